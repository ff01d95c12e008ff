#pragma once
// stress-ng 0.15: what it prints, in the time it takes.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

Task<int> stress_ng(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
