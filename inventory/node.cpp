#include "inventory/node.h"

namespace cupel::inventory {

const std::string& bmc_name(const Node& node) {
  return node.bmc.shared_as.empty() ? node.name : node.bmc.shared_as;
}

}  // namespace cupel::inventory
