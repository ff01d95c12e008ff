#pragma once
// The drawing of the racks in the HTML report.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Each rack from the front, unit 1 at the bottom, its nodes coloured by verdict; empty where no
/// node has a place.
std::string racks_html(const RunSummary& summary);

}  // namespace cupel::report
