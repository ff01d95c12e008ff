#pragma once
// cupel boot: see boot_command.cpp.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_boot(CLI::App& app, Context& context, Exit& exit);

}  // namespace cupel::cli
