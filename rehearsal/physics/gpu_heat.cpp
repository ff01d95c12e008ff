#include "rehearsal/physics/gpu_heat.h"

namespace cupel::rehearsal {
namespace {

Drift later(Drift drift, double s) {
  return {drift.settled, drift.away * std::exp(-s / kAirSeconds)};
}

}  // namespace

GpuHeat::GpuHeat(const State& begin, const Drive& drive) : drive_{drive} {
  const double rise = drive.kelvin_per_watt * drive.watts;
  constexpr double kJustBelow = 1e-9;
  if (begin.celsius >= drive.hot_celsius - kJustBelow && drive.air.at(0) + rise > drive.hot_celsius)
    add_held(begin, 0);
  else
    add_free(begin, 0);
}

/// Until it is hot.
void GpuHeat::add_free(const State& begin, double from) {
  const auto air = later(drive_.air, from);
  const Drift rise{drive_.kelvin_per_watt * drive_.watts, 0};
  const Drift memory = air + drive_.memory_warmth * rise + Drift{kMemoryOffset, 0};
  phases_.push_back({.from = from,
                     .held = false,
                     .watts = {drive_.watts, 0},
                     .chip = {begin.celsius, air + rise, kChipSeconds},
                     .memory = {begin.memory_celsius, memory, kMemorySeconds},
                     .joules = begin.joules});
  // It gets hot once at most: the air only drifts to where it settles.
  if (phases_.size() > 1) return;
  const auto hot = phases_.back().chip.reaches(drive_.hot_celsius);
  if (hot && *hot > 0) add_held(at(from + *hot).state, from + *hot);
}

/// Its power is what the air takes away at that temperature: (hot - air) / R.
void GpuHeat::add_held(const State& begin, double from) {
  const auto air = later(drive_.air, from);
  const double resistance = drive_.kelvin_per_watt;
  const Drift watts = (1 / resistance) * (Drift{drive_.hot_celsius, 0} + -1.0 * air);
  const Drift memory = air + drive_.memory_warmth * resistance * watts + Drift{kMemoryOffset, 0};
  phases_.push_back({.from = from,
                     .held = true,
                     .watts = watts,
                     .chip = {drive_.hot_celsius, {drive_.hot_celsius, 0}, kChipSeconds},
                     .memory = {begin.memory_celsius, memory, kMemorySeconds},
                     .joules = begin.joules});
  if (!(air.away > 0)) return;
  const double left = (drive_.hot_celsius - air.settled - resistance * drive_.watts) / air.away;
  if (left <= 0 || left >= 1) return;
  const double free = from - kAirSeconds * std::log(left);
  const auto then = at(free).state;
  add_free(then, free);
}

GpuHeat::Now GpuHeat::at(double s) const {
  if (phases_.empty()) return {};
  std::size_t last = 0;
  for (std::size_t i = 1; i < phases_.size(); ++i)
    if (phases_[i].from <= s) last = i;
  return within(phases_[last], s);
}

GpuHeat::Now GpuHeat::within(const Phase& phase, double s) const {
  const double in = s > phase.from ? s - phase.from : 0;
  return {.state = {.celsius = phase.chip.at(in),
                    .memory_celsius = phase.memory.at(in),
                    .joules = phase.joules + phase.watts.sum(in)},
          .watts = phase.watts.at(in),
          .held = phase.held};
}

}  // namespace cupel::rehearsal
