#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/power.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

Task<Result<StepEnd>> perform_power_on(StepEnvironment& environment, const StepRequest& request) {
  co_return co_await with_bmc(environment, request, turn_on);
}

}  // namespace

StepType power_on() { return {.kind = playbooks::StepKind::power_on, .perform = perform_power_on}; }

}  // namespace cupel::steps::kinds
