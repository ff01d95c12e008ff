#pragma once
// The commands for a controller without a terminal, and a look at what it does.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_controller(CLI::App& app, Context& context, Exit& exit);
void add_follow(CLI::App& app, Context& context, Exit& exit);

}  // namespace cupel::cli
