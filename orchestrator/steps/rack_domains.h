#pragma once
// The NVLink domains that the trays of a run report, held against each other: a rack is one domain.
// Not the GPUs of one tray, which its own stages compare. Pure.
#include <string>
#include <vector>

#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"

namespace cupel::steps {

/// Of the nodes of its profile, by kDomainFact: a failure for a tray that is in another domain than
/// most of its rack, or in another rack than most of its domain; inconclusive where nothing says
/// which trays are odd (inventory::audit_domains), or no more than half of its rack has reported in
/// this run. Nothing while a node of the profile may still
/// report, so that the order in which they report changes no verdict.
std::vector<burnin::Cause> domain_differences(const inventory::Inventory& inventory,
                                              const inventory::Node& node,
                                              const engine::RunState& run);

/// What tells that something is wrong with the node's rack: these, and warm_rack().
std::vector<burnin::Cause> rack_differences(const inventory::Inventory& inventory,
                                            const inventory::Node& node,
                                            const engine::RunState& run);

/// The nodes of the profile with such a difference.
std::vector<std::string> nodes_in_other_domains(const inventory::Inventory& inventory,
                                                const std::string& profile,
                                                const engine::RunState& run);

}  // namespace cupel::steps
