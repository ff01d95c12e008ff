#pragma once
// The air at a node's inlet and at its neighbours', by their BMCs, as burnin/node/inlet.h reads it.
#include "inventory/fwd.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// Asks the node's BMC, and those of the few nearest nodes in its rack that nobody has asked
/// lately. JSON; what is not reported is not in it. Never fails; takes a minute or two at most.
Task<std::string> inlets_around(StepEnvironment& environment, const engine::StepRequest& request);

/// The nodes of its rack that are nearest to it, the nearest first. Pure.
std::vector<const inventory::Node*> neighbours_of(const inventory::Inventory& inventory,
                                                  const inventory::Node& node);

}  // namespace cupel::steps
