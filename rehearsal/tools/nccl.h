#pragma once
// nccl-tests, as one process with the GPUs of one node. Not between nodes: there is no mpirun.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

/// Whichever of nccl-tests' programs the first argument names.
Task<int> nccl_test(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
