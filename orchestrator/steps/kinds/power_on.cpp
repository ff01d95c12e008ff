#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kernel_watch.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/power.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// One that was on before has a log of what others did with it.
Task<Result<StepEnd>> turn_on_and_tell(bmc::Bmc& bmc, const StepRequest& request) {
  const auto before = co_await bmc.power.state(request.deadline);
  CO_TRY(auto end, co_await turn_on(bmc, request));
  const bool was_off = before && before->value == bmc::PowerState::off;
  if (was_off && end.outcome == engine::Outcome::done) KernelWatch::begin_with_boot(end);
  co_return end;
}

Task<Result<StepEnd>> perform_power_on(StepEnvironment& environment, const StepRequest& request) {
  co_return co_await with_bmc(environment, request, turn_on_and_tell);
}

}  // namespace

StepType power_on() { return {.kind = playbooks::StepKind::power_on, .perform = perform_power_on}; }

}  // namespace cupel::steps::kinds
