#include <fmt/format.h>

#include "orchestrator/steps/bmc_session.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

Result<bmc::BootTarget> target_of(const StepRequest& request) {
  const auto word = request.step.with.find("target");
  const auto requested = word == request.step.with.end() ? std::string{"pxe"} : word->second;
  for (const auto target : {bmc::BootTarget::pxe, bmc::BootTarget::uefi_http, bmc::BootTarget::disk,
                            bmc::BootTarget::virtual_cd, bmc::BootTarget::bios_setup})
    if (to_string(target) == requested) return target;
  return Error{Code::kInvalid,
               "boot-once: target must be pxe, http, disk, cd or bios, not '" + requested + "'"};
}

Task<Result<StepEnd>> set_boot(bmc::Bmc& bmc, const StepRequest& request) {
  CO_TRY(const auto target, target_of(request));
  CO_TRY(co_await bmc.boot.set({.target = target, .once = true}, request.deadline));
  co_return done(fmt::format("next boot from {}", to_string(target)));
}

Task<Result<StepEnd>> perform_boot_once(StepEnvironment& environment, const StepRequest& request) {
  co_return co_await with_bmc(environment, request, set_boot);
}

}  // namespace

StepType boot_once() {
  return {.kind = playbooks::StepKind::boot_once, .perform = perform_boot_once};
}

}  // namespace cupel::steps::kinds
