#pragma once
// Heat in closed form: bodies that follow the air around them and the watts in them, each with a
// thermal mass, while the air itself drifts to where it settles. Pure arithmetic; what is hot
// stands in node_model.h.
#include <cmath>
#include <optional>

namespace cupel::rehearsal {

/// The air of a rack takes that long to settle.
inline constexpr double kAirSeconds = 300;

/// c + a * exp(-s / kAirSeconds), s seconds from its beginning.
struct Drift {
  double settled = 0, away = 0;

  double at(double s) const { return settled + away * std::exp(-s / kAirSeconds); }
  /// Integrated from 0 to s.
  double sum(double s) const {
    return settled * s + away * kAirSeconds * (1 - std::exp(-s / kAirSeconds));
  }
  friend Drift operator+(Drift one, Drift other) {
    return {one.settled + other.settled, one.away + other.away};
  }
  friend Drift operator*(double factor, Drift of) {
    return {factor * of.settled, factor * of.away};
  }
  friend bool operator==(const Drift&, const Drift&) = default;
};

/// A body of time constant `tau` that follows a drift: the solution of tau * y' = target - y.
class Warming {
 public:
  Warming() = default;
  Warming(double now, Drift target, double tau)
      : target_{target.settled, target.away * kAirSeconds / (kAirSeconds - tau)},
        rest_{now - target_.settled - target_.away},
        tau_{tau} {}

  double at(double s) const { return target_.at(s) + rest_ * std::exp(-s / tau_); }
  /// When it first comes up to `limit` from below; nothing: never. Exact to a microsecond.
  std::optional<double> reaches(double limit) const;

 private:
  Drift target_{};
  double rest_ = 0, tau_ = 1;
};

}  // namespace cupel::rehearsal
