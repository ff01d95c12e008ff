#pragma once
// CPUs, core by core: one verified stress-ng on each logical CPU, so that a wrong result names its
// core; clocks, temperatures, throttling and machine checks meanwhile.
#include "burnin/stage.h"

namespace cupel::burnin {

struct AgentWork;  // burnin/agent_stage.h

/// Parameters: `duration` (5m; 1s to 168h), `spare` (0). Measures for each core ("cpu0 core 17":
/// the socket, and the core's number in it as the kernel has it; both threads of a core together).
/// Source: stress-ng(1); proc(5), /proc/cpuinfo; Documentation/admin-guide/pm/cpufreq of Linux.
Stage cpu();

/// What cupel-node is to do of it, also beside another stage. Errors: kInvalid, naming the
/// parameter.
Result<AgentWork> cpu_work(const Parameters& parameters);

}  // namespace cupel::burnin
