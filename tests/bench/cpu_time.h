#pragma once
// What a benchmark has cost: CPU time, whatever else the machine did meanwhile. Not wall time.
#include <sys/resource.h>

namespace cupel::bench {

/// Seconds of one core, in user and kernel mode: RUSAGE_SELF, this process with all its threads, or
/// RUSAGE_CHILDREN, those that it has waited for. Source: getrusage(2).
inline double cpu_seconds(int who = RUSAGE_SELF) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace cupel::bench
