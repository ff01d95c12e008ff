#include "inventory/slurm_topology.h"

#include <fmt/format.h>

#include <map>

#include "inventory/node_range.h"

namespace cupel::inventory {
namespace {

struct TreeSwitch {
  std::string name;
  std::string nodes;  // a range; empty above the leaves
};

/// A switch for each group, in their order; named by its only leaf, else by its number.
std::vector<TreeSwitch> groups_of(const Fabric& fabric) {
  std::map<int, std::vector<std::string>> nodes, leaves;
  for (const auto& node : fabric.nodes) nodes[node.group].push_back(node.name);
  for (const auto& one : fabric.switches)
    if (one.level == SwitchLevel::leaf) leaves[one.group].push_back(one.name);
  std::vector<TreeSwitch> groups;
  for (const auto& [group, names] : nodes)
    groups.push_back(
        {leaves[group].size() == 1 ? leaves[group].front() : fmt::format("group{}", group + 1),
         fold_last(names)});
  return groups;
}

std::string names_of(const std::vector<TreeSwitch>& groups) {
  std::vector<std::string> names;
  names.reserve(groups.size());
  for (const auto& group : groups) names.push_back(group.name);
  return fold_last(names);
}

constexpr std::string_view kTop = "fabric";

}  // namespace

std::string topology_conf(const Fabric& fabric) {
  const auto groups = groups_of(fabric);
  std::string text;
  for (const auto& group : groups)
    text += fmt::format("SwitchName={} Nodes={}\n", group.name, group.nodes);
  if (groups.size() > 1) text += fmt::format("SwitchName={} Switches={}\n", kTop, names_of(groups));
  return text;
}

std::string topology_yaml(const Fabric& fabric) {
  const auto groups = groups_of(fabric);
  std::string text = "- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n";
  if (groups.size() > 1)
    text += fmt::format("      - switch: {}\n        children: {}\n", kTop, names_of(groups));
  for (const auto& group : groups)
    text += fmt::format("      - switch: {}\n        nodes: {}\n", group.name, group.nodes);
  return text;
}

}  // namespace cupel::inventory
