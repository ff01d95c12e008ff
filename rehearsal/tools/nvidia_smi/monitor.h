#pragma once
// nvidia-smi dmon and pmon: a line a second for each GPU, or for each process.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

Task<int> device_monitor(ProcessPtr process, Arguments arguments);
Task<int> process_monitor(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
