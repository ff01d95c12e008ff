#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kernel_watch.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/power.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

Task<Result<StepEnd>> turn_off_and_on(bmc::Bmc& bmc, const StepRequest& request) {
  // Off and on are two acts: after a crash in between, off is found done, and on follows.
  CO_TRY(co_await turn_off(bmc, request));
  CO_TRY(auto end, co_await turn_on(bmc, request));
  if (end.outcome == engine::Outcome::done) KernelWatch::begin_with_boot(end);
  co_return end;
}

Task<Result<StepEnd>> perform_power_cycle(StepEnvironment& environment,
                                          const StepRequest& request) {
  co_return co_await with_bmc(environment, request, turn_off_and_on);
}

}  // namespace

StepType power_cycle() {
  return {.kind = playbooks::StepKind::power_cycle, .perform = perform_power_cycle};
}

}  // namespace cupel::steps::kinds
