#pragma once
// The drawing of the racks in the HTML report.
#include <string>
#include <string_view>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Safe inside an element and inside a quoted attribute: what comes from machines is hostile.
std::string escaped(std::string_view text);

/// Each rack from the front, unit 1 at the bottom, its nodes coloured by verdict; empty where no
/// node has a place.
std::string racks_html(const RunSummary& summary);

}  // namespace cupel::report
