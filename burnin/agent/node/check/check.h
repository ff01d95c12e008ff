#pragma once
// The subcommand `check`: the light test for Slurm's HealthCheckProgram, prolog and epilog. Reads
// and judges; loads nothing, and asks no controller.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// Exit status 0: well; 1: not; 2: could not be found out, and nothing was done.
int check_node(Arguments arguments);

}  // namespace cupel::agent
