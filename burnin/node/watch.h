#pragma once
// The two stages of `cupel-node` that only read: `facts`, what the node is made of down to each
// PCIe link, and `watch`, what it does for a while.
#include "burnin/stage.h"

namespace cupel::burnin {

/// No parameters. What needs root (serial numbers, SMART, configuration space) is unknown without.
Stage facts();

/// Parameters: `duration` (1s to 7 days, 5m), `every` (1s to 60s, 1s). Of what happens meanwhile on
/// this node, whoever makes it happen.
Stage watch();

}  // namespace cupel::burnin
