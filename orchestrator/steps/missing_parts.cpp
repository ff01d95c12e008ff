#include "orchestrator/steps/missing_parts.h"

#include "inventory/audit.h"
#include "inventory/model.h"

namespace cupel::steps {

std::set<std::string, std::less<>> missing_by_bmc(const inventory::Inventory& inventory,
                                                  const inventory::Node& node,
                                                  std::span<const inventory::Part> parts) {
  std::set<std::string, std::less<>> missing;
  const inventory::Seen seen{parts, {}, {}};
  for (const auto& each : inventory::audit(inventory.profile_of(node), {}, seen))
    if (each.finding == inventory::Finding::missing) missing.insert(each.part);
  return missing;
}

}  // namespace cupel::steps
