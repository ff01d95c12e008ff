#pragma once
// Time on the rack's side: it runs `speed` times faster than life, so that an hour of burn-in can
// be rehearsed in a minute. Not a scheduler: timers are Asio's.
#include <chrono>
#include <cstdint>

namespace cupel::rehearsal {

/// A span of the rack's own time.
using VirtualTime = std::chrono::duration<double>;

class Clock {
 public:
  using Real = std::chrono::steady_clock;

  explicit Clock(double speed) : speed_{speed} {}

  double speed() const { return speed_; }

  /// How long a span of the rack's time lasts in ours. Capped at a year, which no timer outlives.
  Real::duration real(VirtualTime span) const {
    constexpr VirtualTime kYear{365.0 * 86400};
    const auto capped = std::min(std::max(span, VirtualTime{0}), kYear);
    return std::chrono::ceil<Real::duration>(capped / speed_);
  }

  /// The rack's time since it was started.
  VirtualTime elapsed() const { return VirtualTime{Real::now() - start_} * speed_; }

  /// The rack's wall clock, as `date +%s` on a node would say it.
  double epoch() const {
    const std::chrono::duration<double> began = wall_start_.time_since_epoch();
    return (began + elapsed()).count();
  }

 private:
  double speed_;
  Real::time_point start_ = Real::now();
  std::chrono::system_clock::time_point wall_start_ = std::chrono::system_clock::now();
};

}  // namespace cupel::rehearsal
