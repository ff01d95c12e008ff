#pragma once
// What the GPUs of a run drew over time, in the HTML report: of each step, as it was measured.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Empty where no step measured a GPU's power.
std::string power_html(const RunSummary& summary);

}  // namespace cupel::report
