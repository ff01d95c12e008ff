#pragma once
// A run that another process drives, as its journal tells it. Reads, and touches nothing.
#include "orchestrator/cli/context.h"
#include "playbooks/plan.h"

namespace cupel::cli {

enum class Followed {
  to_its_end,       // it has ended, was cancelled or was interrupted
  waits_for_hands,  // it is halted, or each node is through and some wait for repair
  left,             // Ctrl-C: the run goes on
  abandoned,        // its controller is gone, and the run is not over
  never_begun,      // there is no controller any more, and none has taken it
};

/// Shows what happens, about once a second, until one of these. waits_for_hands only where
/// Context::ends_when_halted has it so, which is without a terminal.
Followed follow(const Context& context, store::Store& store, const playbooks::Plan& plan,
                engine::RunId run);

}  // namespace cupel::cli
