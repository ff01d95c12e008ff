#include "orchestrator/controller/repair_watch.h"

#include "base/for_each_of.h"
#include "base/json.h"
#include "base/log.h"
#include "inventory/node.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/actions.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::controller {
namespace {

constexpr std::size_t kWidth = 8;

/// A node's step that somebody may have mended.
struct Wait {
  const steps::Recheck* recheck = nullptr;
  const inventory::Node* node = nullptr;
  std::string step{};
  std::string from{};             // where the node goes on; empty: at the step
  std::set<std::string> parts{};  // that have to be there again
};

std::string first_of(const playbooks::NodePlan& node, std::optional<playbooks::StepKind> kind) {
  const auto at = std::ranges::find(*node.steps, kind, &playbooks::PlannedStep::kind);
  return at == node.steps->end() ? std::string{} : at->name;
}

/// How the step ended is in the state, of what in the record.
std::optional<Wait> wait_of(const RepairWatch& watch, const playbooks::NodePlan& node,
                            const engine::NodeState& state) {
  using Phase = engine::StepState::Phase;
  const bool failed = std::ranges::any_of(
      state.steps, [](const auto& step) { return step.phase == Phase::failed; });
  if (!failed) return std::nullopt;
  const auto record = record::node_record(*watch.store, watch.run, node.node->name);
  if (!record) return std::nullopt;
  for (std::size_t i = 0; i < state.steps.size() && i < node.steps->size(); ++i) {
    if (state.steps[i].phase != Phase::failed) continue;
    const auto& planned = (*node.steps)[i];
    const auto reported = std::ranges::find(record->steps, planned.name, &record::StepRecord::name);
    if (reported == record->steps.end()) return std::nullopt;
    if (!report::may_be_mended(*reported) || reported->revivals >= kMostRetries)
      return std::nullopt;
    Wait wait{steps::step_type(planned.kind).recheck, node.node, planned.name};
    for (const auto& need : reported->needs) wait.parts.insert(need.part);
    wait.from = first_of(node, wait.recheck->from);
    return wait;
  }
  return std::nullopt;
}

/// Asks for the retry as a person would: the controller takes it in a second.
Task<Result<void>> look(const RepairWatch& watch, const Wait& wait) {
  const steps::RecheckRequest request{*watch.inventory, *wait.node, wait.parts, watch.bmc,
                                      watch.ssh};
  const bool mended = co_await wait.recheck->look(request);
  if (!mended) co_return ok();
  engine::Command again;
  again.run = watch.run;
  again.kind = engine::Command::Kind::retry;
  again.node = wait.node->name;
  again.step = wait.from;
  again.text = wait.recheck->seen;
  again.by = engine::kByItself;
  const log::About about{.run = watch.run, .node = again.node, .step = wait.step};
  const auto asked = watch.store->ask(again);
  if (asked)
    log::info(about, "repair-seen", again.text);
  else
    log::warning(about, "retry-not-asked-for", asked.error().what);
  co_return ok();
}

}  // namespace

Task<Result<void>> watch_repairs(RepairWatch watch) {
  const auto verb = [&](const Wait& wait) { return look(watch, wait); };
  for (std::size_t round = 1;; ++round) {
    CO_TRY(co_await pause_for(watch.pause));
    std::vector<Wait> waits;
    for (const auto& node : watch.plan->nodes) {
      const auto known = watch.state().nodes.find(node.node->name);
      if (known == watch.state().nodes.end()) continue;
      auto wait = wait_of(watch, node, known->second);
      if (!wait) continue;
      if (round % wait->recheck->every == 0) waits.push_back(std::move(*wait));
    }
    co_await for_each_of<void>(std::move(waits), kWidth, verb);
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
  }
}

}  // namespace cupel::controller
