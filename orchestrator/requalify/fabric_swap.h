#pragma once
// What two runs say of an exchange of plugs: links that pairs found slow before and after. Pure.
#include <map>
#include <set>

#include "burnin/fabric/cable_swap.h"
#include "orchestrator/record/node_record.h"

namespace cupel::requalify {

/// What a run's `fabric-pairs` found, of all its nodes.
struct PairReadings {
  std::vector<burnin::fabric::SlowLinks> slow{};  // each once
  /// Of each slow link's end: the nodes that are judged by it.
  std::map<inventory::CableEnd, std::set<std::string>> nodes_of{};
  std::set<std::string> measured{};  // nodes with flows
  std::string exchanged{};           // the stage's parameter; empty: none
};

/// Nothing of nodes without that stage, and nothing of a leaf or a spine as a whole.
PairReadings pair_readings(std::span<const record::NodeRecord> records,
                           const inventory::Fabric& plan);

/// What the exchange that `after` was measured with says of what was slow before. Errors: kInvalid:
/// `after` was measured without an exchange, or without a node that the answer needs; as
/// read_exchange().
Result<std::vector<burnin::fabric::SwapAnswer>> read_swapped_cables(const PairReadings& before,
                                                                    const PairReadings& after,
                                                                    const inventory::Fabric& plan);

}  // namespace cupel::requalify
