#pragma once
// The air that a rack gets, beside what the run's other racks get: machines that all stand in the
// same hot air do not differ from their neighbours. Pure.
#include <vector>

#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"

namespace cupel::steps {

/// Inconclusive for each node of a rack whose inlets are too warm, in the median, beside the median
/// of the other racks: what is measured in that air says little of the machine. By the fact
/// "thermal.inlet", of whatever profile. Nothing where fewer than two nodes of the node's rack, or
/// of each other rack, have reported one. The rack that is too cold is no finding.
std::vector<burnin::Cause> warm_rack(const inventory::Inventory& inventory,
                                     const inventory::Node& node, const engine::RunState& run);

}  // namespace cupel::steps
