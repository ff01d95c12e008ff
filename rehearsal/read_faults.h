#pragma once
// The `faults:` of a rack's file. What a fault may say stands in fault_table().
#include <span>

#include "inventory/profile.h"
#include "inventory/yaml.h"
#include "rehearsal/rack_spec.h"

namespace cupel::rehearsal {

/// Plants each in the nodes that it names. `profile`: against which parts are checked; nullptr
/// where there is none, and then they are not.
void read_faults(std::span<const inventory::YamlValue> items, const std::string& file,
                 const inventory::Profile* profile, RackSpec& into,
                 std::vector<inventory::Problem>& problems);

}  // namespace cupel::rehearsal
