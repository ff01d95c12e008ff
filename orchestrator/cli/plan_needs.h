#pragma once
// What a plan needs before it can begin, as `cupel plan` prints it.
#include <boost/json/object.hpp>

#include "orchestrator/controller/plan_needs.h"

namespace cupel::cli {

/// As people read it, and for --json.
std::string needs_text(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf);
boost::json::object needs_json(const playbooks::Plan& plan, const ssh::ProgramShelf& shelf);

}  // namespace cupel::cli
