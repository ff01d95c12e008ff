#pragma once
// Parts that a profile expects and the BMC does not list.
#include <set>
#include <span>
#include <string>

#include "inventory/fwd.h"

namespace cupel::steps {

/// What the BMC's own list of parts lacks of what the profile says, by the parts' names. Pure.
std::set<std::string, std::less<>> missing_by_bmc(const inventory::Inventory& inventory,
                                                  const inventory::Node& node,
                                                  std::span<const inventory::Part> parts);

}  // namespace cupel::steps
