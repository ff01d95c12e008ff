#pragma once
// nccl-tests over the GPUs of one node, as a stage. Not between nodes.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Of part "nvlinks": bus bandwidth (GB/s) of the largest size, out of place:
/// `collective.all_reduce.busbw`, in place `….busbw.in_place`; the time (us) of the smallest size:
/// `….latency`. With `nvls: off` they are `collective.rings.…`: without reductions in the switches
/// a healthy node is a quarter slower. `collective.errors`: elements that came out wrong; not
/// reported where nothing was checked. The average that the tool ends with is no measurement: it is
/// mostly of small sizes. Source: NVIDIA/nccl-tests doc/PERFORMANCE.md; see nccl_report.h.
Stage nccl_tests();

}  // namespace cupel::burnin
