#include "rehearsal/physics/warming.h"

namespace cupel::rehearsal {
namespace {

/// Below at `low`, not below at `high`, and only rising between them.
double crossing(const Warming& course, double limit, double low, double high) {
  constexpr double kExact = 1e-6;
  while (high - low > kExact) {
    const double middle = (low + high) / 2;
    (course.at(middle) < limit ? low : high) = middle;
  }
  return high;
}

}  // namespace

/// Two exponentials have one turning point at most, so the course rises in one piece.
std::optional<double> Warming::reaches(double limit) const {
  constexpr double kForEver = kAirSeconds * 40;  // by then both are gone to the last bit
  if (at(0) >= limit) return 0;
  const double ratio = -rest_ * kAirSeconds / (tau_ * target_.away);
  const bool turns = target_.away != 0 && ratio > 1;
  const double turn = turns ? std::log(ratio) / (1 / tau_ - 1 / kAirSeconds) : kForEver;
  if (turn < kForEver && at(turn) >= limit) return crossing(*this, limit, 0, turn);
  if (at(kForEver) < limit) return std::nullopt;
  return crossing(*this, limit, turn < kForEver ? turn : 0, kForEver);
}

}  // namespace cupel::rehearsal
