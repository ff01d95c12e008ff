#pragma once
// A machine turned on and off by its BMC, for the steps that do either or both. Each looks first:
// what is so already is done.
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// Ends in needs_operator where the BMC answers and the machine does not come on. Errors: as
/// bmc::ensure_on().
Task<Result<engine::StepEnd>> turn_on(bmc::Bmc& bmc, const engine::StepRequest& request);

/// Errors: as bmc::ensure_off().
Task<Result<engine::StepEnd>> turn_off(bmc::Bmc& bmc, const engine::StepRequest& request);

}  // namespace cupel::steps
