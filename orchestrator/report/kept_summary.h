#pragma once
// The summary of a run that nobody works on any more, folded from its journal once and kept beside
// the store: a list of runs needs no minute for each of them. Not truth, and made again wherever it
// does not stand on the newest event of the run; reports are never made of it.
#include <boost/json/object.hpp>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// What to_json(RunSummary) has under "summary". `made_by`: one that another version of Cupel has
/// kept is made again. Errors: kStorage.
Result<boost::json::object> kept_summary(const store::Store& store, const store::Run& run,
                                         std::string_view made_by);

/// A node that a run has not judged yet, and still may.
bool is_in_work(const store::Run& run, const NodeSummary& node);

}  // namespace cupel::report
