#include "rehearsal/physics/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cupel::rehearsal {

/// Their tails have no end, and no part is of any speed: nothing is beyond six deviations.
double Draw::deviate() const {
  constexpr double kMost = 6;
  const auto exponential = [&](std::uint64_t which) {
    return -std::log(std::max(of("exponential").of(which).uniform(), 0x1p-53));
  };
  const auto drawn = [&]() -> double {
    const double one = of("one").uniform();
    switch (shape_) {
      case SpreadShape::normal:
        return std::clamp(normal(), -3.0, 3.0);
      case SpreadShape::gamma:
        return (4 - exponential(1) - exponential(2) - exponential(3) - exponential(4)) / 2;
      case SpreadShape::exponential:
        return 1 - exponential(1);
      case SpreadShape::laplace:
        return (one < 0.5 ? exponential(1) : -exponential(1)) / std::numbers::sqrt2;
      case SpreadShape::student_t:
        return normal() / std::sqrt((exponential(1) + exponential(2)) / 2) / std::numbers::sqrt2;
      case SpreadShape::bimodal:
        return one < 0.1 ? -3 + 1.5 * normal() : normal();
      case SpreadShape::uniform:
        return (2 * one - 1) * std::numbers::sqrt3;
    }
    return 0;
  };
  return std::clamp(drawn(), -kMost, kMost);
}

}  // namespace cupel::rehearsal
