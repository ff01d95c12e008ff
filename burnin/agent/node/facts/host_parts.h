#pragma once
// The parts of the host that files alone report: what the stage node-facts reads, on a node, on a
// virtual one, and of what the shell script of an earlier version printed.
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

/// The line "facts" with "system", "cpus", "memory", "dimms", "edac", "kernel", "infiniband",
/// "nics" and "nvme", as sections.h has them. Runs nothing, and asks no device. "dimms" is left out
/// where the firmware's table cannot be read.
JsonLine host_parts(const Tree& tree);

/// Whether the firmware's table lists a DIMM. Root reads it; virtual machines may have none.
bool has_dimm_table(const Tree& tree);

}  // namespace cupel::agent
