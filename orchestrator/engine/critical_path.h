#pragma once
// How long a node is still on its way from each of its steps on: what the dispatcher's order of
// "longest remaining path first" goes by. Pure; a plan in, seconds out. Not a forecast, and not a
// bound: where nodes queue for something of the whole site, it only says who had better be early.
#include <memory>

#include "playbooks/plan.h"

namespace cupel::engine {

/// By step. Nodes of which the same is true share one list.
using CriticalPath = std::shared_ptr<const std::vector<std::chrono::seconds>>;

/// Of each node of the plan: what its steps are expected to take from there on. A step that needs a
/// slot of the whole site counts with all those that come after it in that queue, so that the first
/// of them come there early, the others one after the other, and the slots are not idle until all
/// arrive at once. In the queue the racks take turns: each of them has its own slots before it.
std::vector<CriticalPath> critical_paths(const playbooks::Plan& plan);

}  // namespace cupel::engine
