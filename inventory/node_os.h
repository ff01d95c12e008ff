#pragma once
// What a node's installed system is given beside its image, named here so that few read what is in
// it. Data only: user_data.h, node_network.h.
#include <memory>
#include <vector>

namespace cupel::inventory {

struct NodeNetwork;
struct UserData;

/// The nearer to the node, the later.
using UserDataLayers = std::vector<std::shared_ptr<const UserData>>;

}  // namespace cupel::inventory
