#pragma once
// The verdict of a measurement by pairs in words, with what speaks for it: for records and people.
#include <string>
#include <vector>

#include "burnin/fabric/screen.h"
#include "burnin/fabric/whole_fabric.h"

namespace cupel::burnin::fabric {

/// What the parts are called. What is missing gets its number.
struct Names {
  std::vector<std::string> nodes{};
  std::vector<std::string> hcas{};        // at node * rails + rail: "mlx5_3"
  std::vector<std::string> leaf_ports{};  // of the same: "7/1"
  std::vector<std::string> leaves{}, spines{};
  std::vector<std::string> leaf_guids{};    // of the plan; empty: it has none
  std::vector<std::string> uplink_ports{};  // at leaf * uplinks + uplink: "33"
};

/// "link a01-n05/mlx5_3 - leaf3 port 7/1, from the node"
std::string name_of(const Topology& topology, const Names& names, PartId part);

/// "a01-n05 -> a01-n09, rail 3"
std::string name_of(const Topology& topology, const Names& names, const Flow& flow);

/// Which change of cables decides between parts that no measurement tells apart.
std::string deciding_swap(const Topology& topology, const Names& names, const Suspicion& suspicion);

/// "across leaves is 17 % slower than inside", "split: 25 % of the flows across leaves ..."; each
/// what is found between leaves, a line, without a node. Empty: nothing is.
std::vector<std::string> fabric_lines(const Topology& topology, const Names& names,
                                      const WholeFabric& fabric);

/// One fact a line: what is usual, each part with its flows, what stays open and why.
std::vector<std::string> reasons(const PairScreen& screen, const Culprits& culprits,
                                 const WholeFabric& fabric, const Names& names);

}  // namespace cupel::burnin::fabric
