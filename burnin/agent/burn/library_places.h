#pragma once
// Where the libraries of CUDA are searched that a node has or that came with this program.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/common/shared_library.h"

namespace cupel::burn {

/// Each of `names` as the node's loader finds it; then in lib/ of `folder`, which the controller
/// fills on nodes without one; then where CUDA toolkits lie.
std::vector<std::string> library_places(std::span<const std::string_view> names,
                                        std::string_view folder = agent::program_folder());

}  // namespace cupel::burn
