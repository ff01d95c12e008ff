#pragma once
// gpu_burn: matrix products on all GPUs, each compared with itself. It behaves as the real one
// does.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

/// As wilicc/gpu-burn prints: one line redrawn with '\r', counts of errors begun anew at each
/// summary, and exit status 0 whatever was found.
Task<int> gpu_burn(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
