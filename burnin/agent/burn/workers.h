#pragma once
// One thread for each GPU. A worker that fails is reported at once, and stops the others where they
// may wait for it (a collective waits for all ranks).
#include <functional>
#include <string>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/stop.h"

namespace cupel::burn {

struct Worker {
  std::string part;  // "gpu0"
  std::function<Outcome<>()> work;
};

enum class OnFailure { kStopOthers, kOthersGoOn };

/// Runs all workers at the same time and joins them. Failures are reported as they come, each with
/// its part; the first one stops the others by `stop`, or leaves them going on: then it is the
/// caller's to give up once nothing is left to do. True: none failed.
bool run_workers(std::vector<Worker> workers, Report& report, Stop& stop,
                 OnFailure on_failure = OnFailure::kStopOthers);

}  // namespace cupel::burn
