#pragma once
// cupel verdict: see verdict_command.cpp.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

void add_verdict(CLI::App& app, Context& context, Exit& exit);

}  // namespace cupel::cli
