#pragma once
// cupel-burn on virtual nodes that work together: where NCCL's ranks meet, and collectives over
// several nodes at the rate of the slowest rail between any two of them.
#include "rehearsal/shell/program.h"

namespace cupel::rehearsal {

/// `cupel-burn nccl-id`.
Task<int> burn_nccl_id(ProcessPtr process, Arguments arguments);

/// Whether it is `cupel-burn collective --ranks N`.
bool is_across(const Arguments& arguments);
Task<int> burn_across(ProcessPtr process, Arguments arguments);

}  // namespace cupel::rehearsal
