#pragma once
// `cupel-node stage NAME`: one stage of burn-in, on this node. `cupel-node restore-settings`: the
// stage settings-restore, for people and for the node's own timer.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// Reads its order, one JSON object, from standard input, and prints JSON lines (stages/lines.h).
int run_stage_command(Arguments arguments);

/// Prints the same lines.
int restore_settings_command(Arguments arguments);

}  // namespace cupel::agent
