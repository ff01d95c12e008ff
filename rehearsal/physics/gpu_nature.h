#pragma once
// How one GPU differs from its kind: silicon, paste, memory and links, drawn from a seed. A per
// cent or two, so that criteria that compare a fleet have something to learn.
#include "rehearsal/physics/node_model.h"
#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {

struct GpuNature {
  const GpuKind* kind = nullptr;
  double hunger = 1;  // power for the same clock
  double idle_watts = 70;
  double kelvin_per_watt = 0.058;
  double hbm = 1, nvlink = 1, pcie = 1, compute = 1;  // of the nominal rates
  double corrected_an_hour = 0;                       // of its HBM, without a fault
};

/// The GPU of that place among `count` of a baseboard. `of`: the node's draws.
GpuNature gpu_nature(const GpuKind& kind, Draw of, int index, int count);

}  // namespace cupel::rehearsal
