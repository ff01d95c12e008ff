#pragma once
// nvidia-smi of driver 590: what burn-in stages and operators ask of it, and what they set with it.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

Task<int> nvidia_smi(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
