#pragma once
// A run's folded state as text and back, for snapshots. What a step has at the beginning is left
// out, so that the text is as large as what has happened. Not the journal: that stays the truth.
#include "base/result.h"
#include "orchestrator/engine/run_state.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

std::string encode(const RunState& state);

/// Nodes and steps that the plan does not have are left out; those that the text does not have
/// wait. Errors: kMalformed: fold the events instead.
Result<RunState> decode(std::string_view text, const playbooks::Plan& plan);

}  // namespace cupel::engine
