#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

/// The engine waits for the person by itself, and asks nobody to do anything.
Task<Result<engine::StepEnd>> perform_approval(StepEnvironment&, const engine::StepRequest&) {
  co_return done("approved");
}

}  // namespace

StepType approval() { return {.kind = playbooks::StepKind::approval, .perform = perform_approval}; }

}  // namespace cupel::steps::kinds
