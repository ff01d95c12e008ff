#pragma once
// The result of a run as Markdown (CommonMark with tables, as GitHub, GitLab and Jira read it): for
// a ticket or a wiki page.
#include <string>
#include <string_view>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Tallies, what failed and what to do about it, each node, what was not tested. What comes from
/// machines is text: it makes no link, no markup and no row of its own.
std::string to_markdown(const RunSummary& summary);

/// Text that is nothing else, in a table's cell too. CommonMark 2.4: a backslash before any
/// punctuation.
std::string plain_text(std::string_view text);

}  // namespace cupel::report
