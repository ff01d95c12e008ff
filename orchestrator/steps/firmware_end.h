#pragma once
// What the steps that write firmware have in common, by the BMC or on the node.
#include "orchestrator/firmware/updater.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// Errors: kInvalid for a machine that is not drained, or has jobs, in Slurm or
/// Kubernetes; of these.
Task<Result<void>> check_free(StepEnvironment& environment, const engine::StepRequest& request);

/// In which the step may begin an update. Nothing: at any time. Errors: kInvalid.
Result<std::optional<inventory::MaintenanceWindow>> window_of(const engine::StepRequest& request);

/// The same step, which asks for the next command where it ends for good and asks for nothing yet.
Task<Result<engine::StepEnd>> with_next_command(const engine::StepRequest& request,
                                                Task<Result<engine::StepEnd>> step);

/// "firmware" of a step's findings.
boost::json::array to_json(const std::vector<firmware::UpdateDone>& done);

/// At the baseline, by these updates.
engine::StepEnd written_to_baseline(const std::vector<firmware::UpdateDone>& done);

}  // namespace cupel::steps
