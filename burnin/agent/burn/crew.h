#pragma once
// A thread for each GPU, all at once. Whoever fails says so at once, since the others may hang on
// it (a collective waits for all), and lets them end.
#include <functional>
#include <string>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/stop.h"

namespace cupel::burn {

struct Hand {
  std::string part;  // "gpu0"
  std::function<Outcome<>()> work;
};

/// Runs all of them and joins them. Failures are reported as they come, each with its part; the
/// first of them lets the others end. True: none failed.
bool side_by_side(std::vector<Hand> hands, Report& report, Stop& stop);

}  // namespace cupel::burn
