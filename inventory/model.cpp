#include "inventory/model.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::inventory {

const Node* Inventory::node(std::string_view name) const {
  const auto found = std::ranges::find(nodes, name, &Node::name);
  return found == nodes.end() ? nullptr : &*found;
}

bool Inventory::is_of_slurm(const Node& node) const {
  return slurm && (node.schedulers.slurm || !node.schedulers.kubernetes);
}

bool Inventory::is_of_kubernetes(const Node& node) const {
  return kubernetes && (node.schedulers.kubernetes || !node.schedulers.slurm);
}

std::vector<const Node*> Inventory::nodes_of_bmc(const Node& node) const {
  if (node.bmc.shared_as.empty()) return {&node};
  std::vector<const Node*> all;
  for (const auto& one : nodes)
    if (one.bmc.shared_as == node.bmc.shared_as) all.push_back(&one);
  return all;
}

const Pdu* Inventory::pdu_of(std::string_view breaker) const {
  const auto found = std::ranges::find_if(pdus, [&](const Pdu& pdu) {
    return breaker.starts_with(pdu.name) && breaker.substr(pdu.name.size()).starts_with('/');
  });
  return found == pdus.end() ? nullptr : &*found;
}

std::vector<std::string_view> outlet_names(std::string_view outlets) {
  std::vector<std::string_view> names;
  for (const auto part : split(outlets, '+'))
    if (const auto name = trimmed(part); !name.empty()) names.push_back(name);
  return names;
}

}  // namespace cupel::inventory
