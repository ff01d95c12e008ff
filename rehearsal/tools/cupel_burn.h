#pragma once
// cupel-burn on a virtual node: the same commands, options and lines, in the rack's time. It
// computes nothing: rates come from the physics, faults from what is planted.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

Task<int> cupel_burn(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
