#pragma once
// What stands before the nodes in the HTML report.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// What run it is, how many nodes passed, and each node with its place, serial numbers and verdict.
std::string front_html(const RunSummary& summary);

/// All nodes with their places, serial numbers and verdicts.
std::string nodes_html(const RunSummary& summary);

/// What was run with what and by whom, what people decided, what was not tested, and where supplier
/// and customer sign.
std::string terms_html(const RunSummary& summary);

}  // namespace cupel::report
