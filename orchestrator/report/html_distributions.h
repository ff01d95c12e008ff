#pragma once
// How the numbers of a run lie beside each other, with every node's place, in the HTML report.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// A row for each measure of which more or less is better and whose values differ: its values, the
/// limits of its criterion, and a mark for each node at its worst part. Empty for one node alone.
std::string distributions_html(const RunSummary& summary);

}  // namespace cupel::report
