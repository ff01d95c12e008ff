#pragma once
// What was found and done at the fabric's links before a run ended.
#include <span>
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Of `recorded`, in any order: what was recorded in the 30 days before the run's end, or before
/// now while it is going on, at links of its nodes and between switches. Oldest first; the newest
/// 1,000.
void add_links(RunSummary& summary, std::span<const burnin::LinkEvent> recorded);

/// Empty where nothing is recorded.
std::string links_html(const RunSummary& summary);

}  // namespace cupel::report
