#include "burnin/agent/node/stages/cpu_sensors.h"

#include <algorithm>
#include <array>

#include "burnin/agent/node/stages/file_lines.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostSensors = 64;
constexpr std::array<std::string_view, 3> kDrivers{"coretemp", "k10temp", "zenpower"};
constexpr std::string_view kLabel = "_label";

bool is_of_package(std::string_view label) {
  return label.starts_with("Package id ") || label == "Tctl";
}

}  // namespace

std::vector<std::string> find_cpu_sensors(Node& node) {
  const std::string root = "/sys/class/hwmon";
  FileLines named{node.tree};
  std::vector<std::string> paths;
  for (const auto& chip : numbered(node.tree, root, "hwmon")) {
    const auto folder = root + "/" + chip;
    const auto driver = node.tree.text(folder + "/name").value_or("");
    if (std::ranges::find(kDrivers, driver) == kDrivers.end()) continue;
    for (const auto& name : numbered(node.tree, folder, "temp")) {
      if (!name.ends_with(kLabel) || paths.size() == kMostSensors) continue;
      const auto label = node.tree.text(folder + "/" + name).value_or("");
      if (!is_of_package(label)) continue;
      paths.push_back(folder + "/" + name.substr(0, name.size() - kLabel.size()) + "_input");
      named.add_line("cupel-sensor: " + paths.back() + " " + label);
    }
  }
  named.print(node.lines, "sensors");
  return paths;
}

}  // namespace cupel::agent
