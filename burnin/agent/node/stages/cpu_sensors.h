#pragma once
// The sensors of the CPU packages (hwmon), sampled while something works. burnin/node/heat.h reads
// them. Source: hwmon drivers coretemp ("Package id 0") and k10temp ("Tctl"), Documentation/hwmon
// of Linux.
#include <string>
#include <vector>

#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

/// Paths of their files; each is named in the evidence "sensors".
std::vector<std::string> find_cpu_sensors(Node& node);

}  // namespace cupel::agent
