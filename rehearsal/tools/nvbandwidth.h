#pragma once
// nvbandwidth: how fast copies between host and GPUs, and between GPUs, are. Not what a GPU is
// like: that is gpu_view.h.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

/// nvbandwidth 0.8: copies between host and GPUs, and between GPUs.
Task<int> nvbandwidth(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
