#pragma once
// What steps that write firmware remember of an update beside the journal of their run
// (store/firmware_state.h), and where a step begins that has no handle of its own.
#include "orchestrator/firmware/updater.h"
#include "orchestrator/steps/node_steps.h"
#include "orchestrator/store/firmware_state.h"

namespace cupel::steps {

/// Before the journal has it: what is remembered is never behind. `held`: whose power is held.
/// Errors: kStorage.
Result<void> remember_handle(StepEnvironment& environment, const engine::StepRequest& request,
                             const firmware::UpdateHandle& handle, std::string held);

/// How a step came to its end: with which update, and what it had done before.
struct StepAtUpdate {
  store::FirmwareState::End end{};
  std::string words{};
  const firmware::UpdateHandle& handle;
  const std::vector<firmware::UpdateDone>& done;
};

/// How the remembered update ended, if the step was at it: one that the step had finished is done,
/// however the step ended. Where the machine is at the baseline, so is one that an earlier run left
/// open. Errors: kStorage.
Result<void> remember_end(StepEnvironment& environment, const engine::StepRequest& request,
                          StepAtUpdate at);

/// From where the step goes on instead of beginning anew: an image that is staged, or whose end was
/// not seen, and that the profile still wants or that may just be written; or an update that an
/// operator asked to be continued. Nothing: it begins anew. Errors: kStorage; kMalformed: a handle
/// of another Cupel's.
Result<std::optional<firmware::UpdateHandle>> take_over_update(StepEnvironment& environment,
                                                               const engine::StepRequest& request);

}  // namespace cupel::steps
