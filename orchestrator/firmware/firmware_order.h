#pragma once
// In which order the components of a baseline are written. Pure.
#include <cstddef>
#include <vector>

#include "inventory/fwd.h"

namespace cupel::firmware {

/// Places in Profile::firmware, first to last: what `after` demands, and where it leaves a choice
/// the vendors' order (BMC, then HGX, then BIOS, then the rest), then the profile's. Components
/// whose `after` goes in a circle are left out.
std::vector<std::size_t> update_order(const inventory::Profile& profile);

}  // namespace cupel::firmware
