#include "orchestrator/cli/hands_watch.h"

#include "base/for_each_of.h"
#include "base/json.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/hands.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kWidth = 8;
constexpr std::chrono::seconds kPatience{20};

/// A node's step that somebody may have mended.
struct Wait {
  const inventory::Node* node = nullptr;
  std::string step{};
  bool by_ssh = false;
};

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
    const auto told =
        std::ranges::find(record.assume_value().steps, planned.name, &record::StepRecord::name);
    if (told == record.assume_value().steps.end()) return std::nullopt;
    if (!report::may_be_mended(told->name, told->outcome, told->error)) return std::nullopt;
    using playbooks::StepKind;
    const bool by_ssh = planned.kind == StepKind::ssh_wait || planned.kind == StepKind::stage;
    return Wait{node.node, planned.name, by_ssh};
  }
  return std::nullopt;
}

Task<bool> answers(const HandsWatch& watch, const Wait& wait) {
  const auto deadline = Deadline::in(kPatience);
  if (wait.by_ssh) {
    const auto session = co_await watch.ssh(*wait.node, deadline);
    co_return session.has_value();
  }
  const auto bmc = watch.bmc(*wait.node);
  const auto told = co_await bmc->power_state(deadline);
  co_await bmc->log_out();
  co_return told.has_value();
}

/// Asks for the retry as a person would: the controller takes it in a second.
Task<Result<void>> look(const HandsWatch& watch, const Wait& wait, int& retries) {
  const bool mended = co_await answers(watch, wait);
  if (!mended) co_return ok();
  engine::Command again;
  again.run = watch.run;
  again.kind = engine::Command::Kind::retry;
  again.node = wait.node->name;
  again.text = wait.by_ssh ? "the machine answers again" : "its BMC answers again";
  again.by = "cupel";
  CO_TRY(watch.store->ask(again));
  ++retries;
  co_return ok();
}

}  // namespace

Task<Result<void>> watch_hands(HandsWatch watch) {
  std::map<std::pair<std::string, std::string>, int> retries;
  const auto verb = [&](const Wait& wait) {
    return look(watch, wait, retries[{wait.node->name, wait.step}]);
  };
  for (;;) {
    CO_TRY(co_await pause_for(watch.pause));
    std::vector<Wait> waits;
    for (const auto& node : watch.plan->nodes) {
      const auto known = watch.state().nodes.find(node.node->name);
      if (known == watch.state().nodes.end()) continue;
      auto wait = wait_of(watch, node, known->second);
      if (wait && retries[{wait->node->name, wait->step}] < kMostRetries)
        waits.push_back(std::move(*wait));
    }
    co_await for_each_of<void>(std::move(waits), kWidth, verb);
    const bool stop = co_await cancelled();
    if (stop) co_return ok();
  }
}

}  // namespace cupel::cli
