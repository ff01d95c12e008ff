#pragma once
// How long a plan must take at least, however well it is ordered: its longest path, and for each
// level, claim and the nodes at once what has to pass through it, wave by wave of the canary. Pure
// arithmetic over a plan; knows nothing of the order in which the dispatcher begins things.
#include <chrono>
#include <string>
#include <vector>

#include "orchestrator/engine/dispatcher.h"
#include "orchestrator/engine/power_tree.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

/// The whole cannot end before `at_least`, because of `what`: "breaker a01/p1/b1 allows 1 soak at a
/// time".
struct LowerBound {
  std::chrono::seconds at_least{};
  std::string what{};
};

/// The tightest first: at most `most` of them. Never longer than what is possible when every step
/// takes what is expected, and steps that could never begin are left out. `tree` knows the nodes,
/// all of them idle.
std::vector<LowerBound> bounds(const playbooks::Plan& plan, const PowerTree& tree,
                               const Limits& limits, std::size_t most = 8);

/// Steps that a node does, were there enough of everything: when each begins, and the whole ends.
/// A step of a group begins when the last of its members has arrived.
struct Earliest {
  std::vector<std::vector<std::chrono::seconds>> begins{};  // by node and step
  std::chrono::seconds end{};
  std::size_t last_node = 0;  // whose end it is
};
Earliest earliest(const playbooks::Plan& plan);

/// The group in which each node does each step: an index into Plan::groups, or -1 alone, or -2 if
/// it would need a partner and has none, so that it is not done.
std::vector<std::vector<std::int32_t>> groups_of_steps(const playbooks::Plan& plan);

}  // namespace cupel::engine
