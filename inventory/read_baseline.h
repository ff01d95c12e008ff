#pragma once
// The `firmware:` of a profile from YAML, on top of what it inherits.
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// A component replaces the inherited one of its name; an empty list removes all inherited ones.
/// Images are found from the folder of `file`. Every fault becomes a problem.
void read_baseline(YamlFields& profile_fields, const std::string& file, Profile& profile,
                   std::vector<Problem>& problems);

/// Once the whole profile is read: `after` names components that exist, and goes in no circle.
void check_baseline(const Profile& profile, std::vector<Problem>& problems);

}  // namespace cupel::inventory
