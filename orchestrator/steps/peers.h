#pragma once
// Which nodes of a run a verdict is to wait for: those that are being measured now, so that it can
// compare the node with them. Pure.
#include <string>

#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"

namespace cupel::steps {

struct Peers {
  std::size_t at_work = 0;   // have begun a stage, and have not come to their verdict
  std::size_t measured = 0;  // have come to it
  std::string one{};         // of those at work
};

/// The other nodes of the node's profile in the run. Those that no stage has begun on (a canary
/// holds them back, or they do not boot) are not waited for, nor those that are held up by a BMC or
/// a system that does not answer: once they report, their own verdicts compare them, and have those
/// made again that come out otherwise.
Peers peers_of(const inventory::Inventory& inventory, const inventory::Node& node,
               const engine::RunState& run);

/// Whether a node has not come to its verdict: what it reports may still change a comparison.
bool may_still_report(const engine::NodeState& node);

/// Whether a step before its verdict waits for a BMC or a system that does not answer: it failed
/// and is tried again (a stage twice), or takes far longer than it should.
bool is_held_up(const engine::NodeState& node);

/// Whether a node is being measured, is not held up, and has not come to its verdict. For asking
/// about one node alone.
bool is_at_work(const engine::NodeState& node);

}  // namespace cupel::steps
