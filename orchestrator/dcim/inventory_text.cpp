#include "orchestrator/dcim/inventory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "inventory/names.h"

namespace cupel::dcim {
namespace {

/// A JSON text is a YAML text in double quotes (YAML 1.2, 1.3).
std::string quoted(std::string_view text) {
  return json::serialize(json::string(valid_utf8(text)));
}

std::string profile_of(const Device& device, const InventoryRules& rules) {
  if (!device.profile.empty()) return device.profile;
  for (const auto& name : {device.type, device.model})
    if (const auto found = rules.profiles.find(lower_case(name)); found != rules.profiles.end())
      return found->second;
  return {};
}

std::string node_line(const Device& device, const std::string& profile) {
  auto line = fmt::format("  - {{name: {}, profile: {}", quoted(device.name), quoted(profile));
  if (!device.rack.empty()) line += fmt::format(", rack: {}", quoted(device.rack));
  if (!device.rack.empty() && device.unit > 0) line += fmt::format(", unit: {}", device.unit);
  if (!device.serial.empty()) line += fmt::format(", serial: {}", quoted(device.serial));
  line += fmt::format(", bmc: {{address: {}", quoted(device.bmc));
  if (!device.bmc_mac.empty()) line += fmt::format(", mac: {}", quoted(device.bmc_mac));
  return line + fmt::format("}}, ssh: {{address: {}}}}}\n", quoted(device.address));
}

/// Of device types that no profile is known for: how many devices each has.
void add_type_faults(const std::map<std::string, std::size_t>& types,
                     std::vector<std::string>& faults) {
  for (const auto& [type, devices] : types)
    faults.push_back(
        fmt::format("{} of type '{}' {} no profile: --profile {}=PROFILE (see cupel "
                    "profile list), or a custom field cupel_profile",
                    devices == 1 ? "1 device" : fmt::format("{} devices", devices), printable(type),
                    devices == 1 ? "has" : "have", printable(type)));
}

void add_faults(const Device& device, std::vector<std::string>& faults) {
  const auto name = printable(device.name);
  if (const auto fault = inventory::fault_in_name(inventory::Named::node, device.name))
    faults.push_back(fmt::format("device '{}': {}", name, *fault));
  if (device.bmc.empty())
    faults.push_back(
        fmt::format("device '{}' has no out-of-band IP address, and not one interface "
                    "with mgmt_only that has an IP address",
                    name));
  if (device.address.empty())
    faults.push_back(fmt::format("device '{}' has no primary IP address", name));
}

}  // namespace

InventoryText inventory_text(const std::vector<Device>& devices,
                             const std::map<std::string, int>& racks, const InventoryRules& rules) {
  InventoryText made;
  std::map<std::string, std::size_t> without_profile;
  std::set<std::string> used;
  std::string nodes;
  for (const auto& device : devices) {
    const auto profile = profile_of(device, rules);
    if (profile.empty()) ++without_profile[device.type];
    add_faults(device, made.faults);
    if (!device.rack.empty()) used.insert(device.rack);
    nodes += node_line(device, profile);
  }
  add_type_faults(without_profile, made.faults);
  if (devices.empty()) made.faults.emplace_back("no device fits the filters");
  if (rules.with_racks && !used.empty()) {
    made.text += "racks:\n";
    for (const auto& rack : used) {
      const auto height = racks.find(rack);
      made.text += height == racks.end() || height->second == 0
                       ? fmt::format("  - {{name: {}}}\n", quoted(rack))
                       : fmt::format("  - {{name: {}, units: {}}}\n", quoted(rack), height->second);
    }
  }
  made.text += "nodes:\n" + nodes;
  return made;
}

std::vector<std::string> changed_lines(std::string_view before, std::string_view after) {
  const auto of = [](std::string_view text) {
    std::multiset<std::string> all;
    for (const auto line : lines(text)) all.emplace(line);
    return all;
  };
  const auto old_ones = of(before), new_ones = of(after);
  std::vector<std::string> changed;
  for (const auto line : lines(before))
    if (!new_ones.contains(std::string{line})) changed.push_back("- " + std::string{line});
  for (const auto line : lines(after))
    if (!old_ones.contains(std::string{line})) changed.push_back("+ " + std::string{line});
  return changed;
}

}  // namespace cupel::dcim
