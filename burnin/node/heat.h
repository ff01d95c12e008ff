#pragma once
// Temperatures of the CPUs, sampled while something works: by cupel-node
// (burnin/agent/node/stages/cpu_sensors.h), or by the script of an earlier version.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// Of "cupel-sensor: PATH LABEL" and "PATH:MILLIDEGREES". Degrees by CPU ("cpu0"), in the order of
/// the samples; at most 20,000 of each. What is no plausible temperature is left aside. Pure.
std::map<std::string, std::vector<double>> cpu_temperatures(std::string_view text);

}  // namespace cupel::burnin
