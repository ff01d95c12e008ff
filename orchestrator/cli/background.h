#pragma once
// A controller as a process of its own: in a session without a terminal, its output in the log of
// the state folder. For `--detach`.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

/// Leaves a run that was submitted to the living controller, or to one that is started for it.
/// Returns the process that drives it once the run has begun (0 where it has already ended).
/// Errors: kTimeout: none has begun it in half a minute; kFailed: the one that was started has
/// ended; kStorage.
Result<int> leave_to_background(const Context& context, const store::Store& store,
                                engine::RunId run);

}  // namespace cupel::cli
