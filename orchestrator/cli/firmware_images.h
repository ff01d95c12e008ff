#pragma once
// `cupel firmware sign` and `digest`: the manifest of the images that may be written.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_firmware_images(CLI::App& firmware, Context& context, Exit& exit);

}  // namespace cupel::cli
