#include "inventory/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/enum_words.h"
#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::array<std::string_view, 5> kTypes{"", "DAC", "ACC", "AOC", "fibre"};

}  // namespace

std::string_view to_string(SwitchLevel level) { return enum_word<'-'>(level); }

std::string_view to_string(CableType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<CableType> cable_type(std::string_view word) {
  using enum CableType;
  constexpr std::array<std::pair<std::string_view, CableType>, 9> kWords{{{"dac", dac},
                                                                          {"copper", dac},
                                                                          {"acc", acc},
                                                                          {"aoc", aoc},
                                                                          {"fibre", fibre},
                                                                          {"fiber", fibre},
                                                                          {"mpo", fibre},
                                                                          {"smf", fibre},
                                                                          {"mmf", fibre}}};
  const auto lower = lower_case(trimmed(word));
  for (const auto& [name, type] : kWords)
    if (lower == name) return type;
  return std::nullopt;
}

std::size_t CableEndHash::operator()(const CableEnd& end) const {
  const std::hash<std::string_view> hash;
  constexpr std::size_t kPrime = 1'000'003;
  return (hash(end.device) * kPrime + hash(end.hca)) * kPrime + static_cast<std::size_t>(end.port);
}

FabricMap::FabricMap(const Fabric& fabric) : fabric_{fabric}, access_(fabric.nodes.size()) {
  for (std::size_t i = 0; i < fabric.switches.size(); ++i)
    switches_.try_emplace(fabric.switches[i].name, i);
  for (std::size_t i = 0; i < fabric.nodes.size(); ++i) nodes_.try_emplace(fabric.nodes[i].name, i);
  ends_.reserve(2 * fabric.cables.size());
  for (std::size_t i = 0; i < fabric.cables.size(); ++i) {
    const auto& cable = fabric.cables[i];
    ends_.try_emplace(cable.from, i);
    ends_.try_emplace(cable.to, i);
    if (!cable.is_access()) {
      uplinks_[cable.from.device].push_back(
          {cable.from.device, cable.from.port, cable.to.device, cable.to.port});
    } else if (const auto node = nodes_.find(cable.from.device); node != nodes_.end()) {
      access_[node->second].push_back(&cable);
    }
  }
}

const FabricSwitch* FabricMap::find_switch(std::string_view name) const {
  const auto found = switches_.find(name);
  return found == switches_.end() ? nullptr : &fabric_.switches[found->second];
}

const FabricNode* FabricMap::find_node(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &fabric_.nodes[found->second];
}

std::optional<RailPort> FabricMap::rail_port(std::string_view node, int rail, int plane) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || rail < 0) return std::nullopt;
  const auto& hcas = fabric_.nodes[found->second].hcas;
  if (static_cast<std::size_t>(rail) >= hcas.size()) return std::nullopt;
  const auto& hca = hcas[static_cast<std::size_t>(rail)];
  for (const auto* cable : access_[found->second]) {
    if (cable->from.hca != hca) continue;
    const auto* leaf = find_switch(cable->to.device);
    if (leaf && leaf->plane == plane) return RailPort{hca, cable->to.device, cable->to.port};
  }
  return std::nullopt;
}

int FabricMap::rail_of(std::string_view node, std::string_view hca) const {
  const auto* found = find_node(node);
  if (!found) return -1;
  const auto at = std::ranges::find(found->hcas, hca);
  return at == found->hcas.end() ? -1 : static_cast<int>(at - found->hcas.begin());
}

const std::vector<Uplink>& FabricMap::uplinks(std::string_view lower) const {
  static const std::vector<Uplink> none;
  const auto found = uplinks_.find(lower);
  return found == uplinks_.end() ? none : found->second;
}

std::vector<std::string_view> FabricMap::spines(std::string_view lower) const {
  std::vector<std::string_view> names;
  for (const auto& uplink : uplinks(lower))
    if (std::ranges::find(names, uplink.spine) == names.end()) names.push_back(uplink.spine);
  return names;
}

const Cable* FabricMap::cable_at(const CableEnd& end) const {
  const auto found = ends_.find(end);
  return found == ends_.end() ? nullptr : &fabric_.cables[found->second];
}

int plane_count(const Fabric& fabric) {
  int highest = 0;
  for (const auto& one : fabric.switches) highest = std::max(highest, one.plane);
  return highest + 1;
}

std::string port_label(const FabricSwitch& at, int port) {
  if (at.ports_per_cage <= 1 || port < 1) return fmt::format("{}", port);
  return fmt::format("{}/{}", (port - 1) / at.ports_per_cage + 1,
                     (port - 1) % at.ports_per_cage + 1);
}

}  // namespace cupel::inventory
