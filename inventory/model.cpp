#include "inventory/model.h"

#include <algorithm>

namespace cupel::inventory {

std::string to_string(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.host.find(':') != std::string::npos;
  const auto host = ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return host + ":" + std::to_string(endpoint.port);
}

const Node* Inventory::node(std::string_view name) const {
  const auto found = std::ranges::find(nodes, name, &Node::name);
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace cupel::inventory
