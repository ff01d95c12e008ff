#pragma once
// Fleets of numbers with a known truth: what criteria are compared on.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "burnin/criteria/population.h"
#include "rehearsal/physics/random.h"

namespace cupel::fleets {

/// How healthy parts spread: in standard deviations, less is worse.
enum class Shape {
  normal,
  gamma,        // of shape 4: a skew of -1
  exponential,  // a ceiling, and a tail below it
  laplace,
  student,  // with 4 degrees of freedom
  batch,    // a tenth is three deviations slower, and spreads by one and a half
  uniform,
};
inline constexpr std::array kShapes{Shape::normal,  Shape::gamma,   Shape::exponential,
                                    Shape::laplace, Shape::student, Shape::batch,
                                    Shape::uniform};

struct SyntheticFleet {
  std::uint32_t nodes = 64;
  std::uint32_t positions = 8;
  double spread = 0.005;  // between healthy parts: a share, as a deviation
  Shape shape = Shape::normal;
  double noise = 0.002;    // of one reading
  int readings = 5;        // of each part; its number is their median
  double by_position = 0;  // deviation between positions
  double bad = 0;          // share of parts
  double effect = 0.03;    // by which these are slower
  double per_kelvin = 0;   // by which all are slower for each kelvin at the rack's inlet
  double inlets = 0;       // K, deviation between racks of eight nodes
  bool measured = true;    // the inlet is known
  double clocks = 0;       // deviation between the clocks of healthy chips; the rate goes with it
  std::uint64_t seed = 1;
};

struct KnownFleet {
  burnin::Population population{};
  std::vector<bool> bad{};
};

/// Normally distributed, without limits.
inline double normal(rehearsal::Draw draw) {
  const double u = std::max(draw.of(1).uniform(), 0x1p-53);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * draw.of(2).uniform());
}

/// One healthy part.
inline double shaped(rehearsal::Draw draw, Shape shape) {
  const auto exponential = [&](std::uint64_t which) {
    return -std::log(std::max(draw.of("exponential").of(which).uniform(), 0x1p-53));
  };
  const double uniform = draw.of("uniform").uniform();
  switch (shape) {
    case Shape::normal:
      return normal(draw);
    case Shape::gamma:
      return (4 - exponential(1) - exponential(2) - exponential(3) - exponential(4)) / 2;
    case Shape::exponential:
      return 1 - exponential(1);
    case Shape::laplace:
      return (uniform < 0.5 ? exponential(1) : -exponential(1)) / std::numbers::sqrt2;
    case Shape::student:
      return normal(draw) / std::sqrt((exponential(1) + exponential(2)) / 2) / std::numbers::sqrt2;
    case Shape::batch:
      return uniform < 0.1 ? -3 + 1.5 * normal(draw) : normal(draw);
    case Shape::uniform:
      return (2 * uniform - 1) * std::numbers::sqrt3;
  }
  return 0;
}

/// The share of healthy parts that are more than `away` deviations below 0.
inline double share_below(double away, Shape shape) {
  const auto of_normal = [](double x) { return std::erfc(x / std::numbers::sqrt2) / 2; };
  switch (shape) {
    case Shape::normal:
      return of_normal(away);
    case Shape::gamma: {
      const double g = 4 + 2 * away;
      return g <= 0 ? 1 : std::exp(-g) * (1 + g + g * g / 2 + g * g * g / 6);
    }
    case Shape::exponential:
      return std::min(1.0, std::exp(-1 - away));
    case Shape::laplace: {
      const double far = std::exp(-std::numbers::sqrt2 * std::abs(away)) / 2;
      return away < 0 ? 1 - far : far;
    }
    case Shape::student: {
      const double t = away * std::numbers::sqrt2, of = 1 + t * t / 4;
      return 0.5 - 0.375 * t / std::sqrt(of) * (1 - t * t / of / 12);
    }
    case Shape::batch:
      return 0.9 * of_normal(away) + 0.1 * of_normal((away - 3) / 1.5);
    case Shape::uniform:
      return std::clamp(0.5 - away / 2 / std::numbers::sqrt3, 0.0, 1.0);
  }
  return 0;
}

inline KnownFleet synthetic(const SyntheticFleet& of) {
  constexpr double kRate = 3300, kClock = 1700, kInlet = 24;
  KnownFleet fleet;
  const rehearsal::Draw draw{of.seed};
  for (std::uint32_t node = 0; node < of.nodes; ++node) {
    const double inlet = of.inlets * normal(draw.of("rack").of(node / 8));
    for (std::uint32_t position = 0; position < of.positions; ++position) {
      const auto part = draw.of("part").of(node * 64ull + position);
      const bool bad = part.of("bad").uniform() < of.bad;
      const double clock = 1 + of.clocks * normal(part.of("clock"));
      const double rate = kRate * clock * (1 + of.spread * shaped(part.of("own"), of.shape)) *
                          (1 + of.by_position * normal(draw.of("position").of(position))) *
                          (1 - of.per_kelvin * inlet) * (bad ? 1 - of.effect : 1);
      std::vector<double> readings;
      for (int i = 0; i < of.readings; ++i)
        readings.push_back(
            rate * (1 + of.noise * normal(part.of("reading").of(static_cast<std::uint64_t>(i)))));
      std::ranges::sort(readings);
      burnin::FleetMember member{node, position, readings[readings.size() / 2]};
      using burnin::Covariate;
      if (of.clocks > 0)
        member.covariates[static_cast<std::size_t>(Covariate::clock)] = kClock * clock;
      if (of.inlets > 0 && of.measured)
        member.covariates[static_cast<std::size_t>(Covariate::inlet)] = kInlet + inlet;
      fleet.population.members.push_back(member);
      fleet.bad.push_back(bad);
    }
  }
  return fleet;
}

}  // namespace cupel::fleets
