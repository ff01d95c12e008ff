#pragma once
// nvbandwidth as a stage: copies between host and GPUs, and between GPUs, by copy engines. Not how
// NCCL uses the links: that is nccl_tests.h.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Gives `pcie.h2d` and `pcie.d2h` of each GPU and, of each ordered pair ("gpu0-gpu1"),
/// `p2p.bandwidth` (writes) and `p2p.read`; GB/s of 1e9 bytes; `p2p.refused`: how many pairs are
/// missing by each GPU's fault, as the stage p2p counts them. JSON from 0.5 on, else its text. A
/// test that was waived, not found or ended by an error gives no number; "N/A" is none either.
/// Source: NVIDIA/nvbandwidth v0.4 to v0.8, json_output.cpp and testcases_ce.cpp.
Stage nvbandwidth();

}  // namespace cupel::burnin
