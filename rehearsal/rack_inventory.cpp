#include "rehearsal/rack_inventory.h"

#include <fmt/format.h>

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kNodesOfABreaker = 2;
constexpr int kUsualRack = 48;
constexpr int kTallestRack = 100;  // inventory/read_power.cpp takes no more

/// A double-quoted YAML scalar.
std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + "\"";
}

std::string power_tree(const RackAccess& access, const inventory::Profile& profile) {
  constexpr double kSpare = 1.1, kLeast = 1000;
  const auto nodes = std::max<std::size_t>(access.nodes.size(), 1);
  const auto breakers = (nodes + kNodesOfABreaker - 1) / kNodesOfABreaker;
  const double breaker =
      std::max(profile.draw.loaded_watts, kLeast) * kSpare * static_cast<double>(kNodesOfABreaker);
  const double all = breaker * static_cast<double>(breakers);
  const int units = std::clamp(static_cast<int>(nodes) * profile.units, kUsualRack, kTallestRack);
  return fmt::format(
      "rooms: [{{name: hall, watts: {0:.0f}}}]\n"
      "racks:\n"
      "  - name: {1}\n"
      "    room: hall\n"
      "    watts: {0:.0f}\n"
      "    units: {2}\n"
      "    pdus: [{{name: p1, watts: {0:.0f}, breakers: [{{name: \"b[1-{3}]\", watts: "
      "{4:.0f}}}]}}]\n",
      all, access.rack, units, breakers, breaker);
}

std::string ipmi_of(const NodeAccess& node) {
  return node.ipmi_port == 0 ? std::string{} : fmt::format(", ipmi: {{port: {}}}", node.ipmi_port);
}

std::string node_item(const RackAccess& access, std::size_t index,
                      const inventory::Profile& profile) {
  const auto& node = access.nodes[index];
  const int unit = 1 + static_cast<int>(index) * profile.units;
  const bool fits = unit + profile.units - 1 <= kTallestRack;
  return fmt::format(
      "  - name: {}\n"
      "    rack: {}\n"
      "{}"
      "    breaker: p1/b{}\n"
      "    bmc: {{address: {}, tls: {{pin: {}}}{}}}\n"
      "    ssh: {{address: {}, host_key: {}}}\n",
      node.name, access.rack, fits ? fmt::format("    unit: {}\n", unit) : std::string{},
      index / kNodesOfABreaker + 1, quoted(node.bmc), quoted(node.bmc_pin), ipmi_of(node),
      quoted(node.ssh), quoted(node.host_key));
}

}  // namespace

std::string inventory_text(const RackAccess& access, const inventory::Profile& profile) {
  auto text = fmt::format("site: rehearsal\n{}defaults:\n  profile: {}\n",
                          power_tree(access, profile), quoted(profile.name));
  text += fmt::format("  bmc: {{protocol: redfish, user: {}, password: {}}}\n", access.bmc_user,
                      quoted("file:" + access.password_file));
  text += fmt::format("  ssh: {{user: root, key: {}}}\nnodes:\n", quoted(access.key_file));
  for (std::size_t i = 0; i < access.nodes.size(); ++i) text += node_item(access, i, profile);
  return text;
}

}  // namespace cupel::rehearsal
