#pragma once
// The time of day, as journals, holds and BMCs' clocks have it.
#include <chrono>

namespace cupel {

/// In whole seconds, UTC.
inline std::chrono::sys_seconds seconds_now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace cupel
