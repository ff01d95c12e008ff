#pragma once
// The slow parts of a run in one order, the furthest behind first: they passed, and whoever looks
// for the next machine to look at begins here. Pure.
#include <vector>

#include "orchestrator/report/summary.h"

namespace cupel::report {

struct SlowPart {
  const NodeSummary* node = nullptr;
  const burnin::Compared* compared = nullptr;
};

/// They point into the summary.
std::vector<SlowPart> slow_parts(const RunSummary& summary);

/// A heading and a line each; the first few, unless `all`. Empty where none is slow.
std::string slow_lines(const RunSummary& summary, bool all);
std::string slow_html(const RunSummary& summary);

}  // namespace cupel::report
