#pragma once
// The wiring of the nodes that take part, from the plan of the fabric.
#include <span>

#include "base/result.h"
#include "burnin/fabric/reasons.h"
#include "inventory/fabric.h"
#include "inventory/forwarding.h"

namespace cupel::burnin::fabric {

struct PlannedWiring {
  Wiring wiring{};
  Names names{};
  std::string
      stale{};  // why the forwarding tables are not used; empty: they are, or there are none
};

/// Of these nodes, in their order. `forwarding`: the subnet manager's tables; routes that they do
/// not have stay unknown, and those to an HCA that they have at another port of its own leaf.
/// Tables that are marked as stale, or that send packets for another leaf's HCA where the plan has
/// a node or a third leaf, are of other cables: none of their routes is used. Errors: kInvalid: a
/// node that the plan does not have, or none of whose HCAs is cabled.
Result<PlannedWiring> wiring_of(const inventory::Fabric& fabric, std::span<const std::string> nodes,
                                Routing routing,
                                const inventory::ForwardingTables* forwarding = nullptr);

}  // namespace cupel::burnin::fabric
