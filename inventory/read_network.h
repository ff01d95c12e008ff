#pragma once
// `network:` of nodes, with the place of every mistake.
#include "inventory/node_network.h"
#include "inventory/node_os.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// One for each of `count` nodes: MACs and addresses are zipped. Nothing where `value` is nullptr.
std::vector<std::shared_ptr<const NodeNetwork>> read_node_network(const YamlValue* value,
                                                                  std::size_t count,
                                                                  const std::string& file,
                                                                  std::vector<Problem>& problems);

}  // namespace cupel::inventory
