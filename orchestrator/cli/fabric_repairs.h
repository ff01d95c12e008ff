#pragma once
// `cupel fabric repaired` and `cupel fabric history`: what was done at a link, and what came of it.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_repaired_command(CLI::App& fabric, Context& context, Exit& exit);
void add_history_command(CLI::App& fabric, Context& context, Exit& exit);

}  // namespace cupel::cli
