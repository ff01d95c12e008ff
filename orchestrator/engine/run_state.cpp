#include "orchestrator/engine/run_state.h"

#include "base/json.h"

namespace cupel::engine {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 6> kOutcomes{{
    {Outcome::done, "done"},
    {Outcome::wait, "wait"},
    {Outcome::retry, "retry"},
    {Outcome::reject, "reject"},
    {Outcome::needs_hands, "needs hands"},
    {Outcome::suspect_bmc, "suspect BMC"},
}};

constexpr std::array<std::pair<RunPhase, std::string_view>, 5> kPhases{{
    {RunPhase::submitted, "submitted"},
    {RunPhase::running, "running"},
    {RunPhase::interrupted, "interrupted"},
    {RunPhase::cancelled, "cancelled"},
    {RunPhase::ended, "ended"},
}};

std::string text_of(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

void end_step(StepState& step, const Event& event) {
  step.outcome = outcome_of(text_of(event, "outcome")).value_or(Outcome::reject);
  step.phase = step.outcome == Outcome::done ? StepState::Phase::done : StepState::Phase::failed;
  step.detail = text_of(event, "detail");
  step.ended = event.time;
}

void apply_to_step(StepState& step, const Event& event) {
  if (step.over()) return;
  switch (event.kind) {
    case EventKind::step_began:
      if (step.phase == StepState::Phase::waiting) step.began = event.time;
      step.phase = StepState::Phase::running;
      ++step.attempt;
      return;
    case EventKind::step_started:
      step.handle = text_of(event, "handle");
      return;
    case EventKind::step_retried:
      step.detail = text_of(event, "why");
      return;
    case EventKind::step_ended:
      end_step(step, event);
      return;
    case EventKind::step_skipped:
      step.phase = StepState::Phase::skipped;
      step.detail = text_of(event, "why");
      step.ended = event.time;
      return;
    default:
      return;
  }
}

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

std::string_view to_string(RunPhase phase) {
  for (const auto& [known, word] : kPhases)
    if (known == phase) return word;
  __builtin_unreachable();
}

std::optional<RunPhase> run_phase(std::string_view word) {
  for (const auto& [phase, known] : kPhases)
    if (known == word) return phase;
  return std::nullopt;
}

RunState initial_state(const playbooks::Plan& plan) {
  RunState state;
  for (const auto& node : plan.nodes)
    state.nodes[node.node->name] = {std::vector<StepState>(node.steps->size()), node.steps};
  return state;
}

void apply(RunState& state, const Event& event) {
  switch (event.kind) {
    case EventKind::run_started:
      state.began = event.time;
      return;
    case EventKind::run_resumed:
      state.phase = RunPhase::running;
      return;
    case EventKind::run_interrupted:
      state.phase = RunPhase::interrupted;
      return;
    case EventKind::run_cancelled:
      state.phase = RunPhase::cancelled;
      state.ended = event.time;
      return;
    case EventKind::run_ended:
      state.phase = RunPhase::ended;
      state.ended = event.time;
      return;
    default:
      break;
  }
  const auto node = state.nodes.find(event.node);
  if (node == state.nodes.end()) return;
  const auto& planned = *node->second.planned;
  const auto at = std::ranges::find(planned, event.step, &playbooks::PlannedStep::name);
  if (at == planned.end()) return;
  apply_to_step(node->second.steps[static_cast<std::size_t>(at - planned.begin())], event);
}

Next next(const playbooks::NodePlan& plan, const NodeState& state) {
  std::string stopped_by;
  bool no_ssh = false;
  for (std::size_t i = 0; i < state.steps.size(); ++i) {
    const auto& step = (*plan.steps)[i];
    const auto& now = state.steps[i];
    if (now.over()) {
      if (now.phase != StepState::Phase::failed) continue;
      const bool stops = step.on_failure == playbooks::OnFailure::stop;
      if (stops && stopped_by.empty()) stopped_by = step.name;
      no_ssh = no_ssh || step.kind == playbooks::StepKind::ssh_wait;
      continue;
    }
    // What was begun goes on: it may have been started already.
    if (now.phase == StepState::Phase::running) return {Next::Kind::perform, i, {}};
    if (!stopped_by.empty() && !step.always)
      return {Next::Kind::skip, i, "'" + stopped_by + "' failed"};
    // Without SSH no stage can tell anything: each would only wait for its own deadline.
    if (no_ssh && step.kind == playbooks::StepKind::stage)
      return {Next::Kind::skip, i, "the node does not answer SSH"};
    return {Next::Kind::perform, i, {}};
  }
  return {};
}

}  // namespace cupel::engine
