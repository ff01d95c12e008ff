#include "orchestrator/controller/run_actions.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::controller {
namespace {

using NodeNames = std::set<std::string>;

constexpr std::size_t kMostRunsLookedAt = 1000;  // newest first

bool run_is_over(const store::Run& run) {
  return run.phase == engine::RunPhase::ended || run.phase == engine::RunPhase::cancelled;
}

/// Nodes with which a run has done something.
NodeNames worked_on(const report::RunSummary& summary) {
  const auto over = [](const record::StepRecord& step) { return !step.outcome.empty(); };
  NodeNames names;
  for (const auto& node : summary.nodes)
    if (std::ranges::any_of(node.record.steps, over)) names.insert(node.record.node);
  return names;
}

/// Errors: kStorage.
Result<void> look_at_run(const store::Store& store, const store::Run& run, bool plan,
                         RunActions& seen) {
  TRY(seen.summary, report::summarize(store, run.id));
  if (plan || !run_is_over(run)) {
    auto planned = plan_again(run);
    if (planned)
      seen.planned = *std::move(planned);
    else
      seen.no_plan = std::move(planned).error();
  }
  engine::RunState state;
  if (seen.planned) {
    state = engine::initial_state(seen.planned->plan);
    TRY(const auto events, store.events(run.id));
    for (const auto& event : events) apply(state, event);
  }
  seen.actions = report::actions_of(seen.summary, state);
  return ok();
}

/// Errors: kNotFound; kStorage.
Result<std::vector<store::Run>> runs_to_look_at(const store::Store& store, engine::RunId named) {
  if (named == 0) return store.runs(kMostRunsLookedAt);
  TRY(auto run, store.run(named));
  return std::vector{std::move(run)};
}

}  // namespace

Result<std::vector<RunActions>> run_actions(const store::Store& store, engine::RunId named,
                                            bool plans) {
  TRY(const auto runs, runs_to_look_at(store, named));
  std::vector<RunActions> all;
  NodeNames newer;
  for (const auto& run : runs) {
    const auto is_newer = [&](const std::string& node) { return newer.contains(node); };
    if (named == 0 && run_is_over(run) && std::ranges::all_of(run.nodes, is_newer)) continue;
    RunActions seen;
    TRY(look_at_run(store, run, plans, seen));
    std::erase_if(seen.actions,
                  [&](const report::OperatorAction& item) { return is_newer(item.node); });
    newer.merge(worked_on(seen.summary));
    all.push_back(std::move(seen));
  }
  return all;
}

std::vector<report::OperatorAction> walking_list(const std::vector<RunActions>& runs) {
  std::vector<report::OperatorAction> all;
  for (const auto& each : runs) all.insert(all.end(), each.actions.begin(), each.actions.end());
  report::sort_for_walking(all);
  return all;
}

}  // namespace cupel::controller
