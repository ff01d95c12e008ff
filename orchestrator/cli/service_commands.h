#pragma once
// The commands of the service.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_serve(CLI::App& app, Context& context, Exit& exit);
void add_token(CLI::App& app, Context& context, Exit& exit);

}  // namespace cupel::cli
