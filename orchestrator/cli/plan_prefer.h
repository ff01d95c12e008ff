#pragma once
// `cupel plan --prefer`: a playbook whose loads are ordered and trimmed by what they show for their
// time.
#include <boost/json/object.hpp>

#include "orchestrator/controller/planned_run.h"
#include "orchestrator/report/preference.h"

namespace cupel::cli {

/// "time" or "coverage".
report::Prefer preference_of(std::string_view word);

/// Orders and trims the loads of the plan's playbook, and makes the plan again. Errors: kInvalid:
/// the playbook that is left is no playbook or has no plan, with what is wrong in it.
Result<report::Ranking> prefer(controller::Planned& planned, report::Prefer preference);

/// A table of the steps, what is left out, and what escapes by it.
std::string preference_text(const report::Ranking& ranking);
boost::json::object preference_json(const report::Ranking& ranking);

}  // namespace cupel::cli
