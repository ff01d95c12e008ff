#pragma once
// Fleets of numbers with a known truth: what criteria are compared on.
#include <cmath>
#include <numbers>
#include <vector>

#include "burnin/criteria/population.h"
#include "rehearsal/physics/random.h"

namespace cupel::fleets {

struct SyntheticFleet {
  std::uint32_t nodes = 64;
  std::uint32_t positions = 8;
  double spread = 0.005;   // between healthy parts: a share, as a deviation
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
      const double rate = kRate * clock * (1 + of.spread * normal(part.of("own"))) *
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
