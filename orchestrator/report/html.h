#pragma once
// One run as one self-contained HTML file: the rack, each node's verdict, the causes, the numbers
// against their criteria. No script and nothing from elsewhere: it opens anywhere, also years from
// now.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

std::string to_html(const RunSummary& summary);

}  // namespace cupel::report
