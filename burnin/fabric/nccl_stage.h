#pragma once
// The stage that runs NCCL's collectives over several nodes, without MPI (cupel-burn).
#include "burnin/stage.h"

namespace cupel::burnin {

Stage fabric_nccl();

}  // namespace cupel::burnin
