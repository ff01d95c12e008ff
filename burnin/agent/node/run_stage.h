#pragma once
// `cupel-node stage NAME`: one stage of burn-in, on this node.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// Reads its order, one JSON object, from standard input, and prints JSON lines (stages/lines.h).
int run_stage_command(Arguments arguments);

}  // namespace cupel::agent
