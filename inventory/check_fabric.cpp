#include "inventory/check_fabric.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "inventory/fabric_audit.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

void check_switches(const Fabric& fabric, Problems& problems) {
  std::unordered_map<std::string_view, const FabricSwitch*> names, guids;
  for (const auto& one : fabric.switches) {
    if (!names.try_emplace(one.name, &one).second)
      problems.push_back(
          {one.where, fmt::format("two switches are named '{}': their name's pattern "
                                  "leaves something out",
                                  one.name)});
    if (one.guid.empty()) continue;
    const auto [known, fresh] = guids.try_emplace(one.guid, &one);
    if (!fresh)
      problems.push_back({one.where, fmt::format("switches '{}' and '{}' have one GUID {}",
                                                 known->second->name, one.name, one.guid)});
  }
}

void check_nodes(const Fabric& fabric, Problems& problems) {
  const auto where = fabric.cables.empty() ? Place{} : fabric.cables.front().where;
  std::set<std::string> reported;  // many nodes have one list
  for (const auto& node : fabric.nodes) {
    std::unordered_set<std::string_view> seen;
    for (const auto& hca : node.hcas)
      if (!seen.insert(hca).second && reported.insert(hca).second)
        problems.push_back({where, fmt::format("{} stands twice in the list of compute HCAs of {}",
                                               hca, node.name)});
  }
}

/// What has no cable in the plan cannot be compared with it.
void check_cabled(const Fabric& fabric, const FabricMap& map, Problems& problems) {
  std::unordered_map<std::string_view, const Cable*> first;
  for (const auto& cable : fabric.cables)
    if (cable.is_access()) first.try_emplace(cable.from.device, &cable);
  const int planes = plane_count(fabric);
  const auto has_cable = [&](const FabricNode& node, const std::string& hca) {
    for (int port = 1; port <= planes; ++port)
      if (map.cable_at({node.name, hca, port}) != nullptr) return true;
    return false;
  };
  for (const auto& node : fabric.nodes) {
    std::string bare;
    for (const auto& hca : node.hcas)
      if (!has_cable(node, hca)) bare += (bare.empty() ? "" : ", ") + hca;
    if (bare.empty()) continue;
    const auto cable = first.find(node.name);
    problems.push_back(
        {cable == first.end() ? Place{} : cable->second->where,
         fmt::format("{} has no cable for {}: add it to the plan, or list the HCAs that have one "
                     "(hcas, or rails of the profile)",
                     node.name, bare)});
  }
}

void check_ends(const Fabric& fabric, const FabricMap& map, Problems& problems) {
  std::unordered_map<CableEnd, const Cable*, CableEndHash> taken;
  for (const auto& cable : fabric.cables) {
    if (cable.from.device == cable.to.device && cable.from.at_switch())
      problems.push_back(
          {cable.where, fmt::format("a cable from {} to itself", cable.from.device)});
    for (const auto* end : {&cable.from, &cable.to}) {
      const auto* at = map.find_switch(end->device);
      if (end->at_switch() && at && (end->port < 1 || (at->ports > 0 && end->port > at->ports)))
        problems.push_back({cable.where, fmt::format("{} has no port {}: its ports are 1 to {} "
                                                     "(switch_ports)",
                                                     end->device, end->port, at->ports)});
      const auto [known, fresh] = taken.try_emplace(*end, &cable);
      if (fresh) continue;
      const auto& other = *known->second;
      problems.push_back(
          {cable.where,
           fmt::format("{} has two cables: one to {} ({}), one to {}", end_text(map, *end),
                       end_text(map, other.from == *end ? other.to : other.from),
                       to_string(other.where),
                       end_text(map, cable.from == *end ? cable.to : cable.from))});
    }
  }
}

/// Whether cables lead from each node to each other one, in each plane's own way.
void check_reach(const Fabric& fabric, Problems& problems) {
  std::unordered_map<std::string_view, std::string_view> above;
  const auto root = [&](std::string_view name) {
    while (true) {
      const auto found = above.find(name);
      if (found == above.end()) return name;
      // Halves the way: of thousands of leaves it would be as long as they are many.
      if (const auto next = above.find(found->second); next != above.end())
        found->second = next->second;
      name = found->second;
    }
  };
  for (const auto& cable : fabric.cables) {
    const auto one = root(cable.from.device), other = root(cable.to.device);
    if (one != other) above[other] = one;
  }
  std::map<std::string_view, std::pair<std::size_t, std::string_view>> islands;
  for (const auto& node : fabric.nodes) {
    auto& island = islands[root(node.name)];
    if (island.first++ == 0) island.second = node.name;
  }
  if (islands.size() < 2) return;
  std::string names;
  constexpr std::size_t kShown = 4;
  std::size_t shown = 0;
  for (const auto& [device, island] : islands)
    if (shown++ < kShown)
      names +=
          fmt::format("{}{} nodes with {}", names.empty() ? "" : ", ", island.first, island.second);
  problems.push_back(
      {fabric.cables.empty() ? Place{} : fabric.cables.front().where,
       fmt::format("the plan is {} fabrics that no cable connects: {}", islands.size(), names)});
}

}  // namespace

void check_fabric(const Fabric& fabric, Problems& problems) {
  const FabricMap map{fabric};
  const auto before = problems.size();
  check_switches(fabric, problems);
  check_nodes(fabric, problems);
  // What is named twice has every cable twice.
  if (problems.size() == before) {
    check_ends(fabric, map, problems);
    check_cabled(fabric, map, problems);
  }
  check_reach(fabric, problems);
}

}  // namespace cupel::inventory
