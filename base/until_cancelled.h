#pragma once
// For work whose partner in a race decides when both end.
#include "base/task.h"

namespace cupel {

/// Waits until somebody cancels it, or has cancelled it before. Returns kCancelled.
inline Task<Error> until_cancelled() {
  constexpr std::chrono::hours kLook{24};
  for (;;) {
    const bool stopped = co_await cancelled();
    if (stopped) co_return Error{Code::kCancelled, "stopped"};
    const auto paused = co_await pause_for(kLook);
    if (!paused) co_return paused.error();
  }
}

}  // namespace cupel
