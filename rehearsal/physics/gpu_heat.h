#pragma once
// One GPU's heat between two events, in closed form: it warms freely until it is as hot as it may
// get, then its power follows what the air takes away. Not why it draws what it draws
// (node_model.h).
#include <vector>

#include "rehearsal/physics/warming.h"

namespace cupel::rehearsal {

class GpuHeat {
 public:
  static constexpr double kChipSeconds = 22, kMemorySeconds = 40;  // thermal mass x resistance
  static constexpr double kMemoryOffset = 3;

  struct State {
    double celsius = 0, memory_celsius = 0, joules = 0;
  };
  struct Drive {
    double watts = 0;  // that it would draw if heat did not stop it
    double kelvin_per_watt = 0.06;
    double memory_warmth = 1;  // of its memory, where the chip's is 1
    double hot_celsius = 85;
    Drift air{};
  };
  struct Now {
    State state{};
    double watts = 0;
    bool held = false;  // by heat
  };

  GpuHeat() = default;
  GpuHeat(const State& begin, const Drive& drive);

  /// `s` seconds after its beginning.
  Now at(double s) const;

 private:
  struct Phase {
    double from = 0;
    bool held = false;
    Drift watts{};
    Warming chip{}, memory{};
    double joules = 0;
  };
  void add_free(const State& begin, double from);
  void add_held(const State& begin, double from);
  Now within(const Phase& phase, double s) const;

  Drive drive_{};
  std::vector<Phase> phases_{};
};

}  // namespace cupel::rehearsal
