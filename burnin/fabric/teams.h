#pragma once
// Which nodes run a collective together, in which order of rounds. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/fabric/plan_wiring.h"

namespace cupel::burnin::fabric {

/// Nodes of one communicator; the first makes the id.
struct Team {
  std::string name;  // "n1 and n2", "leaf1-r1", "rail 3", "all"
  std::vector<std::size_t> members{};
  int rail = -1;  // one GPU and one HCA of each node; -1: all
  friend bool operator==(const Team&, const Team&) = default;
};

/// Teams that share no node, side by side.
using TeamRound = std::vector<Team>;

/// `groups`: "all", "pairs" (rounds in which each node has two partners), "leaf" (nodes with the
/// first rail at the same leaf), "rail" (a round for each rail). `plan` is for the last two.
/// Errors: kInvalid: there is no plan, or no team has two nodes.
Result<std::vector<TeamRound>> teams_of(std::string_view groups, std::span<const std::string> nodes,
                                        const PlannedWiring* plan);

}  // namespace cupel::burnin::fabric
