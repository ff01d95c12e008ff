#pragma once
// A stage that several nodes do together: each its part, found again by one handle.
#include "inventory/fwd.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// All parts to their end, under `handle`: brought there where they are not yet. What makes one
/// worthless ends the others. Errors: kCancelled, kStorage.
Task<Result<engine::StepEnd>> follow_together(StepEnvironment& environment,
                                              const engine::StepRequest& request,
                                              std::string handle);

/// Ends what `request.handle` names, on each of the nodes, or on the one where it is one alone.
/// Errors: of the first node on which it may go on.
Task<Result<void>> end_on_nodes(StepEnvironment& environment, const engine::StepRequest& request);

/// The job of a node under a folder's name.
ssh::JobHandle job_of(const StepEnvironment& environment, const inventory::Node& node,
                      std::string folder);

}  // namespace cupel::steps
