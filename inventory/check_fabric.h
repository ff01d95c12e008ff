#pragma once
// What cannot be true of a cable plan. Pure.
#include <vector>

#include "inventory/fabric.h"

namespace cupel::inventory {

/// One port with two cables, ports that a switch does not have, a cable from a device to itself,
/// two switches with one name or GUID, an HCA that stands twice in a node's list or has no cable,
/// nodes that cannot reach each other.
void check_fabric(const Fabric& fabric, std::vector<Problem>& problems);

}  // namespace cupel::inventory
