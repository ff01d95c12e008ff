#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/power.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

Task<Result<StepEnd>> perform_power_off(StepEnvironment& environment, const StepRequest& request) {
  co_return co_await with_bmc(environment, request, turn_off);
}

}  // namespace

StepType power_off() {
  return {.kind = playbooks::StepKind::power_off, .perform = perform_power_off};
}

}  // namespace cupel::steps::kinds
