#pragma once
// nvidia-smi of driver 550, as far as audits and burn-in stages ask.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

Task<int> nvidia_smi(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
