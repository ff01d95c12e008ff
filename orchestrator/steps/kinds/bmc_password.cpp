#include "inventory/node.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

std::string_view words_for(bmc::Rotated rotated) {
  switch (rotated) {
    case bmc::Rotated::already:
      return "the inventory's password works: nothing to do";
    case bmc::Rotated::finished_earlier:
      return "an earlier change was finished: the inventory's password works";
    case bmc::Rotated::changed:
      return "changed from the factory's to the inventory's, and proven by a login";
  }
  __builtin_unreachable();
}

Task<Result<engine::StepEnd>> perform_bmc_password(StepEnvironment& environment,
                                                   const engine::StepRequest& request) {
  if (!request.node.bmc.factory)
    co_return done("nothing to do: the inventory names no factory login");
  request.waiting("the BMC's password");
  auto rotated = co_await rotate_bmc_password(environment, request.node, false, request.deadline);
  if (!rotated) co_return ended_by_bmc(std::move(rotated).error());
  co_return done(std::string{words_for(*rotated)});
}

}  // namespace

StepType bmc_password() {
  return {.kind = playbooks::StepKind::bmc_password, .perform = perform_bmc_password};
}

}  // namespace cupel::steps::kinds
