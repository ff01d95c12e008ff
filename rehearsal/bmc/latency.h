#pragma once
// How long the BMCs of different vendors think before they answer: one row each, in the rack's
// time, so that what takes a minute in life takes a second at sixty times the speed. Drawn from
// seed, node, path and how often that path was asked: the same for the same, whoever else asks.
// Orders of magnitude, not measurements, but for the DGX's firmware inventory (2 to 3 minutes, as
// users of it reported).
#include <cstdint>
#include <span>
#include <string_view>

#include "rehearsal/clock.h"

namespace cupel::rehearsal {

/// An answer takes `least`, and more that is distributed exponentially with this mean: many are
/// quick, a few are not. Never more than `least` and six times the mean.
struct Delay {
  VirtualTime least{0}, mean{0};
};

/// Somewhere that is slower than the rest.
struct SlowPlace {
  std::string_view method;  // empty: any
  std::string_view path;    // with * for anything
  Delay delay;
};

struct LatencyBehavior {
  std::string_view vendor{};
  Delay read{}, write{};
  Delay first{};  // the first answer of each path after the BMC has booted: its caches are cold
  std::span<const SlowPlace> slow{};
};

/// The row of that vendor; that of a DGX where there is none.
const LatencyBehavior& latency_behavior_of(std::string_view vendor);

struct Asked {
  std::string_view method, path;
  bool first = false;  // since the BMC has booted
};

VirtualTime latency_of(const LatencyBehavior& behavior, const Asked& asked, std::uint64_t seed,
                       std::string_view node, int count);

}  // namespace cupel::rehearsal
