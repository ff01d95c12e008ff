#pragma once
// What the stages to come need on a node, looked at as soon as it answers: what is not installed
// shall be reported in the first minute, and not when its stage is due in some hours.
#include "burnin/requirements.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// How the step that waited for SSH ends, by the look that its plan gave it (Job): "answers", or,
/// where a tool or the right to use them is missing, in needs_operator with one action. A look that
/// tells nothing is no reason to stop. Errors: as Steps::perform().
Task<Result<engine::StepEnd>> look_at_tools(const engine::StepRequest& request,
                                            ssh::Session& session);

/// The action for what a look saw; nothing where all is there. `user`: as whom we log in.
std::optional<std::string> what_to_install(const burnin::Look& look, bool sudo,
                                           std::string_view user);

}  // namespace cupel::steps
