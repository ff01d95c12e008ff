#pragma once
// The keys `settings`, `boot_order` and `bmc` of a profile, with the place of every mistake.
#include "inventory/machine_settings.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// Reads what `fields` has of them into `settings`, over what an extended profile put there: a
/// setting replaces the one of its name, a key of `bmc` the same key.
void read_settings(YamlFields& fields, const std::string& file, MachineSettings& settings,
                   std::vector<Problem>& problems);

}  // namespace cupel::inventory
