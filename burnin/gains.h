#pragma once
// What a counter gained between two readings of one run: a count since the driver was loaded says
// nothing of the burn in between.
#include <span>

#include "burnin/criteria/judge.h"

namespace cupel::burnin {

/// Adds "ib.port.downed.new", "ib.port.receive_errors.new", "ib.port.recovered.new" and
/// "rdma.NAME.new" to each later reading of "node-facts", and "gpu.remap.new" and
/// "nvlink.replays.new" to those of "gpu-facts", by the first one before it. `steps`: in the order
/// in which they ran. Nothing where a part was not read before, or where its counter went
/// backwards. Pure.
void add_gains(std::span<const std::string> steps, FindingsByStage& findings);

}  // namespace cupel::burnin
