#pragma once
// What goes on beside a stage while its node does it: its BMC's sensors are read, its feeds taken
// away one after the other, as the stage asks for it.
#include "orchestrator/steps/follower.h"

namespace cupel::steps {

/// The stage to its end, with what it wants beside it. Errors: as Follower::follow().
Task<Result<Spool>> follow_and_read(StepEnvironment& environment,
                                    const engine::StepRequest& request,
                                    const std::shared_ptr<Follower>& follower);

/// What only the BMCs tell of a stage that has just ended.
Task<void> read_beside(StepEnvironment& environment, const engine::StepRequest& request,
                       burnin::Output& output);

}  // namespace cupel::steps
