#pragma once
// The result of a run as Markdown (CommonMark with tables, as GitHub, GitLab and Jira read it): for
// a ticket or a wiki page.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Tallies, what failed and what to do about it, each node, what was not tested. What comes from
/// machines is text: it makes no link, no markup and no row of its own.
std::string to_markdown(const RunSummary& summary);

}  // namespace cupel::report
