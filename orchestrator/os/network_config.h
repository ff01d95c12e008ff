#pragma once
// The networks of a node as cloud-init's network-config, which is netplan's: cloud-init itself
// writes them for what the image has. Pure.
// Source: cloud-init 22.4, "Networking config Version 2".
#include "base/json.h"

namespace cupel::inventory {
struct NodeNetwork;
}

namespace cupel::os {

json::object network_config(const inventory::NodeNetwork& network);

}  // namespace cupel::os
