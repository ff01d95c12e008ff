#pragma once
// `cupel fabric after-swap`: which part of a slow link was at fault, by the runs before and after
// an exchange of plugs.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_after_swap_command(CLI::App& fabric, Context& context, Exit& exit);

}  // namespace cupel::cli
