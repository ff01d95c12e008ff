#include "burnin/agent/node/stages/nvme_drives.h"

#include <algorithm>

namespace cupel::agent {
namespace {

constexpr std::size_t kMostDrives = 256;

bool is_drive_name(std::string_view name) {
  constexpr std::string_view kBegin = "nvme";
  const auto digits = name.starts_with(kBegin) ? name.substr(kBegin.size()) : std::string_view{};
  return !digits.empty() && digits.size() <= 4 &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

/// Of a path to a name space (nvme0c1n1) no disk is made.
bool is_space_name(std::string_view name) {
  return name.starts_with("nvme") && name.find('n', 4) != name.npos && !name.contains('c');
}

}  // namespace

std::optional<std::vector<std::string>> drives_of(const JsonValue& order) {
  const auto* list = order.find("drives");
  const auto* all = list == nullptr ? nullptr : list->array();
  if (all == nullptr || all->size() > kMostDrives) return std::nullopt;
  std::vector<std::string> drives;
  for (const auto& each : *all) {
    if (each.text() == nullptr || !is_drive_name(*each.text())) return std::nullopt;
    if (std::ranges::find(drives, *each.text()) == drives.end()) drives.push_back(*each.text());
  }
  return drives;
}

std::vector<std::string> all_drives(const Node& node) {
  std::vector<std::string> drives;
  for (const auto& name : node.tree.names("/sys/class/nvme")) {
    const auto transport = node.tree.text("/sys/class/nvme/" + name + "/transport");
    const bool local = transport.value_or("pcie") == "pcie";
    if (local && is_drive_name(name) && drives.size() < kMostDrives) drives.push_back(name);
  }
  return drives;
}

// The kernel numbers name spaces by subsystem, not by controller: nvme3's may be nvme2n1.
std::vector<NvmeDrive> spaces_of(const Node& node, const std::string& drive) {
  std::vector<NvmeDrive> spaces;
  const auto serial = serial_of(node, drive);
  if (serial.empty()) return spaces;
  for (const auto& space : node.tree.names("/sys/block"))
    if (is_space_name(space) &&
        node.tree.text("/sys/block/" + space + "/device/serial").value_or("") == serial)
      spaces.push_back({drive, space, node.tree.real("/dev/" + space)});
  return spaces;
}

}  // namespace cupel::agent
