#pragma once
// Which nodes do a step together. Pure, and the same for the same nodes: a resumed run must find
// the same partners.
#include <vector>

#include "playbooks/plan.h"

namespace cupel::playbooks {

/// Whether the step says nothing of a node that does it alone. A batch script of the site's does.
bool needs_partner(const PlannedStep& step);

/// The groups of all steps that are not done alone, by rack, unit and place in the inventory.
/// Problems: a step of whole racks on a node whose rack is not reported.
std::vector<Group> groups_of(const std::vector<NodePlan>& nodes,
                             std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
