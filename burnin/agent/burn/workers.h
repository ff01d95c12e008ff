#pragma once
// One thread for each GPU of commands whose GPUs wait for each other: a worker that fails is
// reported at once, and stops the others.
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

/// Runs all workers at the same time and joins them. Failures are reported as they come, each with
/// its part; the first one stops the others by `stop`. True: none failed.
bool run_workers(std::vector<Worker> workers, Report& report, Stop& stop);

}  // namespace cupel::burn
