#pragma once
// The stages that run cupel-burn, the fire: each one command of it. What its lines say:
// cupel_burn.h; what follows from them: burn_findings.h.
#include "burnin/stage.h"

namespace cupel::burnin {

Stage gemm();        // matrix products on all GPUs at the power limit, every result compared
Stage hbm();         // patterns over all free GPU memory, and its bandwidth
Stage pcie();        // between host and GPU
Stage p2p();         // between each two GPUs
Stage collective();  // NCCL over all GPUs of the node
Stage train();       // a synthetic training step

}  // namespace cupel::burnin
