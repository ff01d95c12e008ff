#pragma once
// A step's session with its node's BMC: ended on every path, since BMCs have few.
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// Runs `verb` on the node's BMC and logs out, whatever came of it.
template <class Verb>
Task<Result<engine::StepEnd>> with_bmc(StepEnvironment& environment,
                                       const engine::StepRequest& request, Verb verb) {
  const auto bmc = environment.bmc(request.node);
  auto ended = co_await verb(*bmc, request);
  co_await bmc->log_out();
  if (ended) co_return ended;
  auto failed = ended_by_bmc(std::move(ended).error());
  if (failed) end_if_hung(environment, request.node, *failed);
  co_return failed;
}

}  // namespace cupel::steps
