#pragma once
// Two processes of ours stand over a job. The supervisor spools its output, ends it at its limit,
// and writes its exit status. The guard, its parent, does nothing while the supervisor lives; where
// that one is killed, whatever it looked after becomes the guard's, and is ended.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

struct JobOrder {
  std::string name;
  std::string folder;
  std::chrono::seconds limit{};
  std::uint64_t spool_limit = 0;  // bytes, of each stream
  std::vector<std::string> command{};
  std::string input = "/dev/null";  // what the job reads
};

struct JobStarted {
  pid_t keeper = 0;
  pid_t group = 0;
};

/// Starts guard, supervisor and job, and returns when the job runs. The folder is there, and
/// nobody else starts in it. Errors: kFailed, with nothing left running.
Result<JobStarted> start_supervised(const JobOrder& order);

/// How long a job has between TERM and KILL: when it reached its limit, and when it is stopped.
inline constexpr std::chrono::seconds kGraceAtLimit{10};
inline constexpr std::chrono::seconds kGraceAtStop{5};

}  // namespace cupel::agent
