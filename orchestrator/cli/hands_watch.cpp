#include "orchestrator/cli/hands_watch.h"

#include "base/for_each_of.h"
#include "base/json.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/hands.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kWidth = 8;
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::seconds kPatienceForParts{120};
constexpr std::size_t kRoundsBetweenParts = 5;

/// A node's step that somebody may have mended.
struct Wait {
  enum class By { bmc, ssh, parts } by = By::bmc;
  const inventory::Node* node = nullptr;
  std::string step{};
  std::string from{};             // where the node goes on; empty: at the step
  std::set<std::string> parts{};  // that have to be there again
};

Wait::By seen_by(playbooks::StepKind kind) {
  using playbooks::StepKind;
  if (kind == StepKind::audit) return Wait::By::parts;
  const bool by_ssh = kind == StepKind::ssh_wait || kind == StepKind::stage;
  return by_ssh ? Wait::By::ssh : Wait::By::bmc;
}

/// What an audit judges is read there.
std::string first_facts(const playbooks::NodePlan& node) {
  const auto at =
      std::ranges::find(*node.steps, playbooks::StepKind::bmc_facts, &playbooks::PlannedStep::kind);
  return at == node.steps->end() ? std::string{} : at->name;
}

/// How the step ended is in the state, of what in the record.
std::optional<Wait> wait_of(const HandsWatch& watch, const playbooks::NodePlan& node,
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
    const auto told = std::ranges::find(record->steps, planned.name, &record::StepRecord::name);
    if (told == record->steps.end()) return std::nullopt;
    if (!report::may_be_mended(*told) || told->revivals >= kMostRetries) return std::nullopt;
    Wait wait{seen_by(planned.kind), node.node, planned.name};
    for (const auto& need : told->needs) wait.parts.insert(need.part);
    if (wait.by == Wait::By::parts) wait.from = first_facts(node);
    return wait;
  }
  return std::nullopt;
}

Task<bool> answers(const HandsWatch& watch, const Wait& wait) {
  const auto deadline = Deadline::in(kPatience);
  if (wait.by == Wait::By::ssh) {
    const auto session = co_await watch.ssh(*wait.node, deadline);
    co_return session.has_value();
  }
  const auto bmc = watch.bmc(*wait.node);
  const auto told = co_await bmc->power_state(deadline);
  co_await bmc->log_out();
  co_return told.has_value();
}

/// By the BMC's own list: who misses a part there looks there.
Task<bool> has_its_parts(const HandsWatch& watch, const Wait& wait) {
  const auto bmc = watch.bmc(*wait.node);
  const auto seen = co_await bmc->observe(Deadline::in(kPatienceForParts));
  co_await bmc->log_out();
  if (!seen || seen->parts.empty()) co_return false;
  const auto missing = steps::missing_by_bmc(*watch.inventory, *wait.node, seen->parts);
  co_return std::ranges::none_of(wait.parts,
                                 [&](const std::string& part) { return missing.contains(part); });
}

std::string_view words_for(Wait::By by) {
  switch (by) {
    case Wait::By::bmc:
      return "its BMC answers again";
    case Wait::By::ssh:
      return "the machine answers again";
    case Wait::By::parts:
      return "its BMC shows the missing parts again";
  }
  __builtin_unreachable();
}

/// Asks for the retry as a person would: the controller takes it in a second.
Task<Result<void>> look(const HandsWatch& watch, const Wait& wait) {
  auto looking = wait.by == Wait::By::parts ? has_its_parts(watch, wait) : answers(watch, wait);
  const bool mended = co_await std::move(looking);
  if (!mended) co_return ok();
  engine::Command again;
  again.run = watch.run;
  again.kind = engine::Command::Kind::retry;
  again.node = wait.node->name;
  again.step = wait.from;
  again.text = words_for(wait.by);
  again.by = record::kByItself;
  CO_TRY(watch.store->ask(again));
  co_return ok();
}

}  // namespace

Task<Result<void>> watch_hands(HandsWatch watch) {
  const auto verb = [&](const Wait& wait) { return look(watch, wait); };
  for (std::size_t round = 1;; ++round) {
    CO_TRY(co_await pause_for(watch.pause));
    std::vector<Wait> waits;
    for (const auto& node : watch.plan->nodes) {
      const auto known = watch.state().nodes.find(node.node->name);
      if (known == watch.state().nodes.end()) continue;
      auto wait = wait_of(watch, node, known->second);
      if (!wait) continue;
      // A list of parts is dozens of requests.
      const bool due = wait->by != Wait::By::parts || round % kRoundsBetweenParts == 0;
      if (due) waits.push_back(std::move(*wait));
    }
    co_await for_each_of<void>(std::move(waits), kWidth, verb);
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
  }
}

}  // namespace cupel::cli
