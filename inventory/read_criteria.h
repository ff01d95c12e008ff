#pragma once
// The `criteria:` of a profile from YAML, on top of those that it inherits.
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "inventory/yaml.h"

namespace cupel::inventory {

/// A criterion replaces inherited ones of its stage and measure that are about the same kind of
/// parts ("gpu", "mlx5_", the node), and takes the place of the first. Every fault becomes a
/// problem, also an at_least above its at_most, which no value meets.
void read_criteria(const YamlValue& value, const std::string& file, Profile& profile,
                   std::vector<Problem>& problems);

/// `without: [psu/psu.redundant]`: criteria that it does not inherit, as records name them.
void leave_out(const std::vector<std::string>& names, const Place& where, Profile& profile,
               std::vector<Problem>& problems);

/// Once the whole profile is read: "gpu[all]" becomes the names of as many GPUs as `parts` counts,
/// a limit "count of gpu" their number, which must not contradict the other limit. A criterion of
/// parts of which there are none goes.
void count_parts(Profile& profile, std::vector<Problem>& problems);

}  // namespace cupel::inventory
