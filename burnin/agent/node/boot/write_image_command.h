#pragma once
// `cupel-node boot write-image`: an image from standard input onto a disk or a file.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent::boot {

int write_image_command(Arguments arguments);

}  // namespace cupel::agent::boot
