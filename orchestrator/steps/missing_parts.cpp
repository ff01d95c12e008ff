#include "orchestrator/steps/missing_parts.h"

#include <algorithm>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/profile.h"

namespace cupel::steps {

std::set<inventory::PartKind> missing_by_bmc(const inventory::Inventory& inventory,
                                             const inventory::Node& node,
                                             std::span<const inventory::Part> parts,
                                             std::span<const inventory::PartialList> partial) {
  std::set<inventory::PartKind> missing;
  for (const auto& expected : inventory.profile_of(node).parts) {
    const auto there = std::ranges::count(parts, expected.kind, &inventory::Part::kind);
    // Many BMCs list no GPUs or HCAs at all.
    const bool is_listed = there > 0 || inventory::partial_list(partial, expected.kind) != nullptr;
    if (is_listed && there < expected.count) missing.insert(expected.kind);
  }
  return missing;
}

bool is_of(const std::set<inventory::PartKind>& kinds, std::string_view part) {
  const auto kind = inventory::kind_of_name(part);
  return kind && kinds.contains(*kind);
}

}  // namespace cupel::steps
