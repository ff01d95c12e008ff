#include "inventory/model.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::inventory {

std::string to_string(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.host.find(':') != std::string::npos;
  const auto host = ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return host + ":" + std::to_string(endpoint.port);
}

bool Profile::has_bmc_images() const {
  return std::ranges::any_of(
      firmware, [](const auto& one) { return one.image && !one.is_written_on_node(); });
}

bool Profile::has_node_images() const {
  return std::ranges::any_of(firmware,
                             [](const auto& one) { return one.image && one.is_written_on_node(); });
}

bool Profile::has_gpus() const {
  return std::ranges::any_of(parts, [](const ExpectedParts& expected) {
    return expected.kind == PartKind::gpu && expected.count > 0;
  });
}

const Node* Inventory::node(std::string_view name) const {
  const auto found = std::ranges::find(nodes, name, &Node::name);
  return found == nodes.end() ? nullptr : &*found;
}

const std::string& bmc_name(const Node& node) {
  return node.bmc.shared_as.empty() ? node.name : node.bmc.shared_as;
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
