#pragma once
// Heat and power of one node, on a clock of whoever asks: what it is made of (its shape), what it
// does (its loads) and the air that it breathes go in at events; readings come out for any moment
// after the last of them. Pure. machine_physics.h makes shapes of machines.
#include <map>
#include <optional>
#include <vector>

#include "rehearsal/clock.h"
#include "rehearsal/physics/gpu_heat.h"
#include "rehearsal/physics/gpu_kind.h"

namespace cupel::rehearsal {

/// One GPU as it was made, and what ails it.
struct GpuShape {
  const GpuKind* kind = nullptr;  // nullptr: none in this place
  double hunger = 1;              // power that it wants for the same clock
  double idle_watts = 70;
  double kelvin_per_watt = 0.058;  // from inlet to chip, at kNominalFan
  double limit_watts = 700;
  std::optional<int> locked_mhz{};
  friend bool operator==(const GpuShape&, const GpuShape&) = default;
};

struct NodeShape {
  std::vector<GpuShape> gpus{};  // by their position
  int sockets = 2, threads = 224, dimms = 32, drives = 10;
  double idle_watts = 2300, loaded_watts = 10200;
  double cpu_share = 1;  // of its clock, what a throttled one gives
  int fans = 8, fans_stuck = 0;
  friend bool operator==(const NodeShape&, const NodeShape&) = default;
};

struct GpuNow {
  GpuHeat::Now heat{};
  double mhz = 0;
  bool busy = false, capped = false;  // by its power limit
  int utilisation = 0, memory_utilisation = 0;
};

class NodeModel {
 public:
  static constexpr double kStandbyWatts = 120;
  static constexpr double kIdleFan = 0.3, kNominalFan = 0.75, kMostRpm = 14600;

  explicit NodeModel(NodeShape shape, Drift air, VirtualTime at);

  // Events. Time never goes back.
  void set_shape(NodeShape shape, VirtualTime at);
  void set_on(bool on, VirtualTime at);
  void set_air(Drift air, VirtualTime at);
  LoadId begin(Load load, VirtualTime at);
  void end(LoadId id, VirtualTime at);
  void end_all(VirtualTime at);

  // What is so at a moment after the last event.
  GpuNow gpu(std::size_t index, VirtualTime at) const;
  double watts(VirtualTime at) const;
  double inlet(VirtualTime at) const { return air_.at(since(at)); }
  double cpu_celsius(VirtualTime at) const { return cpu_.at(since(at)); }
  /// 0 to 1.
  double fan(VirtualTime at) const { return on_ ? fan_.at(since(at)) : 0; }
  double cpu_load() const { return cpu_load_; }

  /// What it draws if nothing gets too hot: what a breaker sees, and the air of the rack.
  double settled_watts() const;
  bool on() const { return on_; }
  const NodeShape& shape() const { return shape_; }
  const std::map<LoadId, Load>& loads() const { return loads_; }
  bool works(std::size_t gpu, Work work) const;
  /// The clock at which that GPU would do this work now, alone.
  double mhz_for(std::size_t gpu, Work work, VirtualTime at) const;

 private:
  struct Want {
    double watts = 0;   // at most, by limit and clock
    double moving = 0;  // of which the clock changes, at the highest
    double mhz = 0;     // at which it would draw what it asks for
    bool busy = false, capped = false;
    double warmth = 1;
    int utilisation = 0, memory_utilisation = 0;
  };
  double since(VirtualTime at) const { return std::max((at - event_).count(), 0.0); }
  void advance(VirtualTime at);
  void settle();
  Want want(std::size_t gpu, std::vector<Load> const& loads) const;
  std::vector<Load> loads_of(std::size_t gpu) const;
  double others_watts() const;
  double solve_fan() const;
  double stillness(double fan) const;
  double factor() const;

  NodeShape shape_;
  bool on_ = false;
  Drift air_{};
  VirtualTime event_{0};
  std::uint64_t next_ = 1;
  std::map<LoadId, Load> loads_{};

  std::vector<GpuHeat::State> begin_{};  // as it was at the last event

  // From the last event on.
  std::vector<Want> wants_{};
  std::vector<GpuHeat> heat_{};
  Warming cpu_{}, fan_{};
  double fan_target_ = 0, cpu_load_ = 0;
};

/// The clock that so many watts allow. `moving`: watts at the highest clock, less what is drawn
/// whatever the clock.
double mhz_at(const GpuKind& kind, double watts, double moving);

}  // namespace cupel::rehearsal
