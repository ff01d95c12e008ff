// No job comes to the node while it burns, be it Slurm or Kubernetes that gives it to jobs.
#include <fmt/format.h>

#include <algorithm>

#include "inventory/model.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

constexpr std::chrono::seconds kJobsPoll{5};

/// "jobs that still run on it: 17 (alice), 18 (bob) and 2 more"
std::string jobs_text(const std::vector<std::string>& jobs) {
  constexpr std::size_t kNamed = 3;
  std::string text = "jobs that still run on it";
  for (std::size_t i = 0; i < std::min(kNamed, jobs.size()); ++i)
    text += (i == 0 ? ": " : ", ") + jobs[i];
  if (jobs.size() > kNamed) text += fmt::format(" and {} more", jobs.size() - kNamed);
  return text;
}

/// Slurm has no event for this that a client could wait on.
Task<Result<void>> wait_until_free(StepEnvironment& environment, const StepRequest& request) {
  const auto scheduler = environment.scheduler_for(request.node);
  const auto& profile = environment.inventory.profile_of(request.node);
  for (;;) {
    CO_TRY(const auto now, co_await scheduler->look(request.node, profile, request.deadline));
    if (!now.busy) co_return ok();
    request.waiting(jobs_text(now.jobs));
    CO_TRY(co_await pause_for(kJobsPoll));
  }
}

/// Sets the drain, and waits for no job. Returns what the step tells.
Task<Result<StepEnd>> hold(StepEnvironment& environment, const StepRequest& request) {
  const auto scheduler_of_node = environment.scheduler_for(request.node);
  auto& scheduler = *scheduler_of_node;
  const auto& profile = environment.inventory.profile_of(request.node);
  CO_TRY(const auto before, co_await scheduler.look(request.node, profile, request.deadline));
  const auto reason = fmt::format("{}: not qualified (run {})", scheduler.signature(), request.run);
  if (!before.drained || before.reason != reason) {
    CO_TRY(co_await scheduler.hold(request.node, reason, request.deadline));
  }
  CO_TRY(co_await scheduler.reserve(request.node, fmt::to_string(request.run), request.deadline));
  boost::json::array warnings;
  for (const auto& each : before.disagreements) warnings.emplace_back(each);
  boost::json::object found{{"reason_before", before.reason},
                            {"disagreements", warnings},
                            {"scheduler", scheduler.name()}};
  std::string detail = "drained";
  if (!before.held_by_others.empty()) {
    found["held_before"] = before.held_by_others;
    detail += "; before this run it was " + before.held_by_others + ", and it will be so again";
  }
  if (!warnings.empty()) detail += "; " + std::string{warnings.front().as_string()};
  co_return done(detail, std::move(found));
}

Task<Result<StepEnd>> drain_and_wait(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(auto held, co_await hold(environment, request));
  CO_TRY(co_await wait_until_free(environment, request));
  co_return held;
}

using Act = Task<Result<StepEnd>> (*)(StepEnvironment&, const StepRequest&);

Task<Result<StepEnd>> perform(Act act, StepEnvironment& environment, const StepRequest& request) {
  if (!environment.scheduler_for(request.node))
    co_return done("no scheduler: the inventory names none, or the rehearsal has none (--slurm)");
  auto ended = co_await act(environment, request);
  if (ended) co_return ended;
  co_return ended_by(std::move(ended).error());
}

Task<Result<StepEnd>> perform_slurm_hold(StepEnvironment& environment, const StepRequest& request) {
  return perform(hold, environment, request);
}

Task<Result<StepEnd>> perform_slurm_drain(StepEnvironment& environment,
                                          const StepRequest& request) {
  return perform(drain_and_wait, environment, request);
}

}  // namespace

StepType slurm_hold() {
  return {.kind = playbooks::StepKind::slurm_hold, .perform = perform_slurm_hold};
}

StepType slurm_drain() {
  return {.kind = playbooks::StepKind::slurm_drain, .perform = perform_slurm_drain};
}

}  // namespace cupel::steps::kinds
