#pragma once
// What a kernel counts by itself while a stage works: memory errors (EDAC), CPUs that slowed down
// for heat, machine checks, processes killed for memory. burnin/node/counters.h reads it.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// As evidence "counters"; `when` is "before" or "after".
void print_counters(Node& node, std::string_view when);

}  // namespace cupel::agent
