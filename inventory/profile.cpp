#include "inventory/profile.h"

#include <algorithm>

namespace cupel::inventory {

bool Profile::has_bmc_images() const {
  return std::ranges::any_of(
      firmware, [](const auto& one) { return one.image && !one.is_written_on_node(); });
}

bool Profile::has_node_images() const {
  return std::ranges::any_of(firmware,
                             [](const auto& one) { return one.image && one.is_written_on_node(); });
}

bool Profile::has_gpus() const {
  return std::ranges::any_of(parts, [](const ExpectedParts& expected) {
    return expected.kind == PartKind::gpu && expected.count > 0;
  });
}

}  // namespace cupel::inventory
