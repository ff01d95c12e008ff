#pragma once
// grep(1): the options that scripts use.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

Task<int> grep(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
