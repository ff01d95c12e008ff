#pragma once
// How a stage that has ended on its node ends as a step.
#include <optional>

#include "orchestrator/steps/follower.h"

namespace cupel::steps {

/// Keeps all that the tool said as evidence. `done` where the job ended by itself, whatever its
/// exit status; else why there is nothing to parse. Errors: kStorage.
Result<engine::StepEnd> keep_output(StepEnvironment& environment,
                                    const engine::StepRequest& request, const Spool& spool);

/// Keeps it too, and has it parsed. Errors: kStorage.
Result<engine::StepEnd> read_output(StepEnvironment& environment,
                                    const engine::StepRequest& request, const Spool& spool);

/// By how many seconds a node's clock is ahead of ours, at least: its reading, `epoch`, was taken
/// after its step began and before `now`. Negative: behind. Nothing where it is not known when the
/// step began, and the reading may have waited for us. Pure.
std::optional<double> clock_ahead(double epoch, std::optional<double> began, double now);

}  // namespace cupel::steps
