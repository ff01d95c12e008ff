#pragma once
// `cupel inventory ansible` and `cupel inventory prometheus`: the nodes for other programs.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

CommandRow ansible_row(Context& context);
CommandRow prometheus_row(Context& context);

}  // namespace cupel::cli
