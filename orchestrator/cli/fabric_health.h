#pragma once
// `cupel fabric health`: which links are bad, by what fabric tools printed once or twice.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_health_command(CLI::App& fabric, Context& context, Exit& exit);

}  // namespace cupel::cli
