#pragma once
// `cupel-node boot`: what a machine does in the RAM system to get its OS.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent::boot {

/// boot run | write-image | disks | hello | choose, see the README. Ends with 0, or 2 where it
/// failed with a named cause.
int boot(Arguments arguments);

}  // namespace cupel::agent::boot
