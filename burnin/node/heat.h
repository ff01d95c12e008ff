#pragma once
// Temperatures of the CPUs, sampled by a script while something works (hwmon).
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// Lines of a script that find the sensors of the CPU packages, name each
/// ("cupel-sensor: PATH LABEL"), and leave their paths in $sensors. Source: hwmon drivers coretemp
/// ("Package id 0") and k10temp ("Tctl"), Documentation/hwmon of Linux.
std::string_view find_sensors();

/// A line of a script that reads them once.
std::string_view read_sensors();

/// Degrees by CPU ("cpu0"), in the order of the samples; at most 20,000 of each. What is no
/// plausible temperature is left aside. Pure.
std::map<std::string, std::vector<double>> cpu_temperatures(std::string_view text);

}  // namespace cupel::burnin
