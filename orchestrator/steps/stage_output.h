#pragma once
// How a stage that has ended on its node ends as a step.
#include "orchestrator/steps/follower.h"

namespace cupel::steps {

/// Keeps all that the tool said as evidence. `done` where the job ended by itself, whatever its
/// exit status; else why there is nothing to parse. Errors: kStorage.
Result<engine::StepEnd> keep_output(StepEnvironment& environment,
                                    const engine::StepRequest& request, const Spool& spool);

/// Keeps it too, and has it parsed. Errors: kStorage.
Result<engine::StepEnd> read_output(StepEnvironment& environment,
                                    const engine::StepRequest& request, const Spool& spool);

}  // namespace cupel::steps
