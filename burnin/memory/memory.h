#pragma once
// The node's memory, NUMA node by NUMA node: most of it written and compared (stress-ng --vm
// --verify), then its bandwidth; what EDAC counted meanwhile, DIMM by DIMM.
#include "burnin/stage.h"

namespace cupel::burnin {

struct AgentWork;  // burnin/agent_stage.h

/// Parameters: `duration` of writing and comparing (10m; 1s to 168h), `memory` (80%; 1% to 95% of
/// each NUMA node), `stream` for how long bandwidth is measured (30s; 5s to 1h), `spare` (0). Each
/// NUMA node that has CPUs is a part of its own ("numa1"), bound with numactl where that is
/// installed; else by its CPUs, and pages come from the same node as long as it has some (facts:
/// memory.binding). Source: stress-ng(1), numactl(8); Documentation/admin-guide/mm/numaperf of
/// Linux.
Stage memory();

/// What cupel-node is to do of it, also beside another stage. Errors: kInvalid, naming the
/// parameter.
Result<AgentWork> memory_work(const Parameters& parameters);

}  // namespace cupel::burnin
