#pragma once
// The subcommand `facts`: one JSON document of what the node is made of. Reads; changes nothing.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// `facts [--root FOLDER] [--nvml FILE]`. Both are for trying it on captured trees.
int facts(Arguments arguments);

}  // namespace cupel::agent
