#pragma once
// gpu_burn as a stage. It compares each GPU with its own first result alone, and takes NaN for
// right (docs/know/traps.md, 4): what it calls OK is a load that was borne, not a proof of right
// results.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Of each GPU: `gpuburn.errors`, `gpuburn.died` (its process), `gpuburn.tensor.rate` (or
/// `.double.`, `.single.`; TFLOP/s, the median of what it reported after its first),
/// `gpuburn.temperature` (the highest, C). The exit status is 0 whatever it found. Counts of errors
/// that became negative are read as what they overflowed from. A GPU that did no product has no
/// number, whatever the tool calls it. Source: wilicc/gpu-burn gpu_burn-drv.cpp (listenClients);
/// its issues 12, 69, 124.
Stage gpu_burn();

}  // namespace cupel::burnin
