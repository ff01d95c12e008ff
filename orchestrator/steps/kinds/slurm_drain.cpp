// The node is out of Slurm's hands while it burns.
#include <fmt/format.h>

#include "orchestrator/handoff/slurm_conf.h"
#include "orchestrator/steps/kinds/kinds.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kJobsPoll{5};

/// Slurm has no event for this that a client could wait on.
Task<Result<void>> wait_until_free(handoff::Slurm& slurm, const StepRequest& request) {
  for (;;) {
    CO_TRY(const auto now, co_await slurm.node(request.node.slurm_name, request.deadline));
    if (!now.busy()) co_return ok();
    request.waiting("jobs that still run on it");
    CO_TRY(co_await pause_for(kJobsPoll));
  }
}

Task<Result<StepEnd>> drain_and_wait(StepEnvironment& environment, const StepRequest& request) {
  auto& slurm = *environment.slurm;
  const auto& name = request.node.slurm_name;
  CO_TRY(const auto before, co_await slurm.node(name, request.deadline));
  const auto reason = fmt::format("{}: not qualified (run {})", slurm.signature(), request.run);
  if (!before.drained() || before.reason != reason) {
    CO_TRY(co_await slurm.drain(name, reason, request.deadline));
  }
  CO_TRY(co_await wait_until_free(slurm, request));
  const auto& profile = environment.inventory.profile_of(request.node);
  boost::json::array warnings;
  for (const auto& each : handoff::disagreements(profile, before)) warnings.emplace_back(each);
  boost::json::object found{{"reason_before", before.reason}, {"disagreements", warnings}};
  const auto detail = warnings.empty() ? std::string{"drained"}
                                       : "drained; " + std::string{warnings.front().as_string()};
  co_return done(detail, std::move(found));
}

Task<Result<StepEnd>> perform_slurm_drain(StepEnvironment& environment,
                                          const StepRequest& request) {
  if (!environment.slurm) co_return done("the inventory has no Slurm");
  auto drained = co_await drain_and_wait(environment, request);
  if (drained) co_return drained;
  co_return ended_by(std::move(drained).error());
}

}  // namespace

StepType slurm_drain() {
  return {.kind = playbooks::StepKind::slurm_drain, .perform = perform_slurm_drain};
}

}  // namespace cupel::steps::kinds
