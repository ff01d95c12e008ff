#pragma once
// The `faults:` of a rack's file. What a fault may say stands in fault_table().
#include <span>

#include "inventory/yaml.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// Plants each in the nodes that it names. Parts are checked against the profiles of these nodes,
/// where the rack has them.
void read_faults(std::span<const inventory::YamlValue> items, const std::string& file,
                 RackSpec& into, std::vector<inventory::Problem>& problems);

}  // namespace cupel::rehearsal
