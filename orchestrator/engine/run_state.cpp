#include "orchestrator/engine/run_state.h"

#include <array>

#include "base/enum_words.h"
#include "burnin/undo.h"
#include "inventory/node.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"

namespace cupel::engine {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 6> kOutcomes{{
    {Outcome::done, "done"},
    {Outcome::wait, "wait"},
    {Outcome::retry, "retry"},
    {Outcome::reject, "failed"},
    {Outcome::needs_operator, "needs operator"},
    {Outcome::bmc_unresponsive, "BMC unresponsive"},
}};

}  // namespace

std::string_view to_string(Outcome outcome) {
  for (const auto& [known, word] : kOutcomes)
    if (known == outcome) return word;
  __builtin_unreachable();
}

std::optional<Outcome> outcome_of(std::string_view word) {
  for (const auto& [outcome, known] : kOutcomes)
    if (known == word) return outcome;
  return std::nullopt;
}

std::string_view to_string(RunPhase phase) { return enum_word<'-'>(phase); }

std::optional<RunPhase> run_phase(std::string_view word) { return enum_of<RunPhase, '-'>(word); }

RunState initial_state(const playbooks::Plan& plan) {
  RunState state;
  for (const auto& node : plan.nodes)
    state.nodes[node.node->name] = {std::vector<StepState>(node.steps->size()), node.steps, {}};
  return state;
}

bool awaits_approval(const playbooks::PlannedStep& step) {
  return step.kind == playbooks::StepKind::approval;
}

namespace {

using playbooks::StepKind;

/// Nobody knows whether the node answers now: it answered in this step, or was started by it.
bool may_answer_ssh(const playbooks::PlannedStep& planned, const StepState& step) {
  if (step.phase != StepState::Phase::done) return false;
  if (planned.kind == StepKind::stage) return step.handle.has_value();
  return planned.kind == StepKind::ssh_wait || planned.kind == StepKind::power_on ||
         planned.kind == StepKind::power_cycle || planned.kind == StepKind::os ||
         planned.kind == StepKind::boot_ram;
}

/// The step since which the node does not answer SSH, as far as this one shows it.
void follow_ssh(const playbooks::PlannedStep*& silent_since, const playbooks::PlannedStep& planned,
                const StepState& step) {
  const bool waited_in_vain =
      planned.kind == StepKind::ssh_wait && step.phase == StepState::Phase::failed;
  if (waited_in_vain || step.ssh_lost)
    silent_since = &planned;
  else if (may_answer_ssh(planned, step))
    silent_since = nullptr;
}

/// Without SSH no stage can tell anything: each would only wait for its own deadline. What puts
/// back the settings of a node that was lost is tried all the same: it may be back by then.
bool needs_ssh(const playbooks::PlannedStep& step, const playbooks::PlannedStep& silent_since) {
  if (step.kind == StepKind::node_firmware) return true;
  if (step.kind != StepKind::stage) return false;
  return silent_since.kind == StepKind::ssh_wait || burnin::undone_by(step.name) == nullptr;
}

}  // namespace

Next next(const playbooks::NodePlan& plan, const NodeState& state, std::size_t skipped_below) {
  std::string stopped_by;
  const playbooks::PlannedStep* silent_since = nullptr;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < state.steps.size(); ++i) {
    const auto& now = state.steps[i];
    // What was begun goes on, before all else: it may have been started already.
    if (now.phase == StepState::Phase::running) return {Next::Kind::perform, i, {}};
    if (now.phase == StepState::Phase::waiting) {
      if (!first && i >= skipped_below) first = i;
      continue;
    }
    if (first) continue;
    const auto& step = (*plan.steps)[i];
    follow_ssh(silent_since, step, now);
    const bool stops =
        now.phase == StepState::Phase::failed && step.on_failure == playbooks::OnFailure::stop;
    if (stops && stopped_by.empty()) stopped_by = step.name;
  }
  if (!first) return {};
  const auto& step = (*plan.steps)[*first];
  if (!stopped_by.empty() && !step.always)
    return {Next::Kind::skip, *first, "'" + stopped_by + "' failed"};
  if (silent_since != nullptr && needs_ssh(step, *silent_since))
    return {Next::Kind::skip, *first,
            "the node has not answered SSH since '" + silent_since->name + "'"};
  if (awaits_approval(step)) return {Next::Kind::await_approval, *first, {}};
  return {Next::Kind::perform, *first, {}};
}

}  // namespace cupel::engine
