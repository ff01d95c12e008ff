#pragma once
// Which pairs are measured in which round. In a round each node has at most one partner, on all
// rails at once and both ways.
#include <cstddef>
#include <span>
#include <vector>

#include "burnin/fabric/topology.h"

namespace cupel::burnin::fabric {

struct Pair {
  int one = 0, other = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};

using Round = std::vector<Pair>;

/// Into which a round across leaves is split at most, and fixed rounds at most.
inline constexpr int kMostWaves = 8, kMostFixedRounds = 2 + 2 * kMostWaves;

/// Two rounds in which the nodes of a leaf group meet (the circle method: no pair twice), then two
/// in which nodes at the same place of two groups meet, which loads every uplink once each way;
/// where there is one group alone, a third round inside it. A round across is split where leaves
/// have fewer uplinks than nodes, or tables send two streams to one uplink: they would measure each
/// other. A node without a partner in a round rests.
std::vector<Round> fixed_rounds(const Topology& topology);

/// Pairs across leaves that these rounds leave out: so many of their streams meet on one uplink
/// that they would take more than kMostWaves rounds.
std::size_t pairs_left_out(const Topology& topology, std::span<const Round> rounds);

/// The flows of a pair, rail by rail, both ways; of rails on which both have a link.
void add_flows(const Topology& topology, const Pair& pair, std::vector<Flow>& flows);

}  // namespace cupel::burnin::fabric
