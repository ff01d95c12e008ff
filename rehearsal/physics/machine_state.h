#pragma once
// What machine_physics.h keeps of a machine between two events. For its two files alone.
#include <map>
#include <set>

#include "rehearsal/physics/event_count.h"
#include "rehearsal/physics/gpu_nature.h"
#include "rehearsal/physics/machine_physics.h"

namespace cupel::rehearsal {

/// Errors that a fault adds to one link.
struct LinkErrors {
  double an_hour = 0;
  Exposure exposure{};
};

struct GpuState {
  GpuNature nature{};
  bool there = false;
  bool fallen = false;            // off the bus, until the machine was off
  std::optional<double> limit{};  // as somebody has set it
  std::optional<int> clock{};
  double hbm = 1, pcie = 1;   // what faults leave of its rates
  std::vector<bool> links{};  // NVLinks that are up
  double retries = 1;         // what CRC errors leave of NVLink's rate
  Exposure corrected{}, replays{};
  std::map<int, LinkErrors> crc{};  // by link
};

struct MachinePhysics::State {
  Draw draw;
  NodeModel model;
  std::map<int, GpuState> gpus{};     // by position
  std::map<int, double> cpu_share{};  // by socket, where a fault throttles it
  std::set<int> stuck_fans{};
  bool up = false;
  double air = 0;     // as the room gives it, once it has settled
  double warmer = 0;  // what a fault adds to it

  void warm(double more, VirtualTime at) {
    if (more == std::exchange(warmer, more)) return;
    const double settles = air + warmer;
    model.set_air({settles, model.inlet(at) - settles}, at);
  }

  const GpuState* gpu(int index) const {
    const auto found = gpus.find(index);
    return found == gpus.end() || !found->second.there ? nullptr : &found->second;
  }
  Draw draw_of(int index, std::string_view what) const {
    return draw.of("errors").of(what).of(static_cast<std::uint64_t>(index));
  }
};

}  // namespace cupel::rehearsal
