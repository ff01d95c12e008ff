#pragma once
// What a BMC says of a node that does not answer.
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// On or off, and the newest lines of its log, in one line. Empty where the BMC does not tell.
/// Never fails.
Task<std::string> last_word_of_bmc(StepEnvironment& environment,
                                   const engine::StepRequest& request);

}  // namespace cupel::steps
