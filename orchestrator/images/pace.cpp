#include "orchestrator/images/pace.h"

#include <algorithm>

namespace cupel::images {

Pace::Clock::time_point Pace::reserve(std::uint64_t bytes, Clock::time_point now) {
  const std::chrono::duration<double> takes{static_cast<double>(bytes) /
                                            static_cast<double>(rate_)};
  const std::scoped_lock lock{mutex_};
  next_ = std::max(next_, now - kBurst);
  const auto when = next_;
  next_ += std::chrono::duration_cast<Clock::duration>(takes);
  return std::max(when, now);
}

}  // namespace cupel::images
