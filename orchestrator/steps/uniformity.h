#pragma once
// What should be equal on all machines of one profile in one run: the GPU driver, the kernel and
// its command line, the BIOS, its settings and what the system sees of them, the BMC, the VBIOS of
// GPUs, the firmware of HCAs, NVMe drives and supplies, the part numbers of DIMMs, the models of
// GPUs, CPUs, HCAs and NICs in each place, and where parts sit on the PCIe tree. Compares what the
// run's nodes reported with each other. Not the profile's baseline: that is the audit's
// (inventory/audit.h).
#include <span>
#include <string>
#include <vector>

#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/steps/part_facts.h"

namespace cupel::steps {

/// Whether two nodes are machines of one kind, as their BMCs report it: only those are compared in
/// what BMCs report.
bool is_alike(const engine::NodeState& a, const engine::NodeState& b);

struct VersionComparison {
  std::vector<burnin::Cause> causes{};
  std::vector<std::string> remarks{};  // differences that nothing decides, for people
};

/// A failure for each version, address and fact on the node that is not the one of three quarters
/// of at least four such parts in the run, on nodes of the same profile, whatever the nodes will
/// report that have not yet. Where all of three or more nodes have reported and none has three
/// quarters, what is not the most frequent one is inconclusive, with all groups and their nodes,
/// but for what every node has. Else nothing: others may still decide. So the order in which nodes
/// report changes no verdict that is given when all have. Pure; in the order of the facts.
VersionComparison compare_versions(const inventory::Inventory& inventory,
                                   const inventory::Node& node, const engine::RunState& run);

/// Its causes.
std::vector<burnin::Cause> version_differences(const inventory::Inventory& inventory,
                                               const inventory::Node& node,
                                               const engine::RunState& run);

/// The nodes of the profile with a difference: nodes that report the same are compared once. Pure.
std::vector<std::string> nodes_that_differ(const inventory::Inventory& inventory,
                                           const std::string& profile, const engine::RunState& run);

/// "versions compared with 2 of 63 other nodes"; empty where all of them have reported, or the node
/// itself has not. Pure.
std::string uncompared_nodes(const inventory::Inventory& inventory, const inventory::Node& node,
                             const engine::RunState& run);

}  // namespace cupel::steps
