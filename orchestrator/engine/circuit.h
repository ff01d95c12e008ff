#pragma once
// When a run stops by itself, and how far it may go before it has proven itself. Pure.
#include "orchestrator/engine/run_state.h"
#include "playbooks/playbook.h"

namespace cupel::engine {

/// Why no further node may begin the step, or nothing.
std::optional<std::string> too_many(const playbooks::StopAfter& stop_after, const Tally& tally);

/// The canary {1, 4}: one node, then four more, then all. Counted from the first node: how many may
/// work after `wave` of them could, and where the wave that ends at `wave` began.
std::size_t next_wave(const std::vector<int>& canary, std::size_t wave);
std::size_t last_wave(const std::vector<int>& canary, std::size_t wave);

/// By a step, or by its verdict: a canary whose machines are bad stops as one whose steps fail.
bool has_failed(const NodeState& node);

}  // namespace cupel::engine
