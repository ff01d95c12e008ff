#include "orchestrator/engine/run_state.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <limits>

#include "base/json.h"
#include "burnin/undo.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/former_words.h"

namespace cupel::engine {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 6> kOutcomes{{
    {Outcome::done, "done"},
    {Outcome::wait, "wait"},
    {Outcome::retry, "retry"},
    {Outcome::reject, "failed"},
    {Outcome::needs_hands, "needs operator"},
    {Outcome::suspect_bmc, "BMC unresponsive"},
}};

constexpr std::array<std::pair<RunPhase, std::string_view>, 5> kPhases{{
    {RunPhase::submitted, "submitted"},
    {RunPhase::running, "running"},
    {RunPhase::interrupted, "interrupted"},
    {RunPhase::cancelled, "cancelled"},
    {RunPhase::ended, "ended"},
}};

std::int64_t number_of(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::chrono::milliseconds pause_of(const Event& event, std::string_view key) {
  return std::chrono::milliseconds{std::max<std::int64_t>(0, number_of(event, key))};
}

bool by_a_person(const Event& event) { return event.data.contains("command"); }

/// As if it had never begun; only its attempts go on counting.
void reopen(StepState& step) {
  const int attempt = step.attempt;
  step = {};
  step.attempt = attempt;
}

void begin_step(StepState& step, const Event& event) {
  if (step.phase == StepState::Phase::waiting) {
    reopen(step);
    step.began = event.time;
  }
  step.phase = StepState::Phase::running;
  step.until = {};
  step.pause = {};
  step.overdue = false;
  if (step.attempt < std::numeric_limits<int>::max()) ++step.attempt;
}

void retry_step(StepState& step, const Event& event) {
  step.detail = text_in(event, "why");
  step.pause = pause_of(event, "after_ms");
  step.until = WallTime{pause_of(event, "until")};
  step.spent = pause_of(event, "spent_ms");
  ++step.tries;
  if (text_in(event, "outcome") != to_string(Outcome::wait)) ++step.retries;
}

void end_step(StepState& step, const Event& event) {
  const auto outcome = outcome_of(text_in(event, "outcome")).value_or(Outcome::reject);
  const bool an_end = outcome != Outcome::wait && outcome != Outcome::retry;
  step.outcome = an_end ? outcome : Outcome::reject;
  step.phase = step.outcome == Outcome::done ? StepState::Phase::done : StepState::Phase::failed;
  step.detail = text_in(event, "detail");
  step.ended = event.time;
  step.until = {};
  step.pause = {};
  step.ssh_lost = step.phase == StepState::Phase::failed && event.data.contains("ssh_lost");
}

void skip_step(StepState& step, const Event& event) {
  step.phase = StepState::Phase::skipped;
  step.detail = text_in(event, "why");
  step.ended = event.time;
}

void apply_to_running(StepState& step, const Event& event) {
  switch (event.kind) {
    case EventKind::step_began:
      return begin_step(step, event);
    case EventKind::step_started:
      step.handle = text_in(event, "handle");
      return;
    case EventKind::step_retried:
      return retry_step(step, event);
    case EventKind::step_ended:
      return end_step(step, event);
    case EventKind::step_overdue:
      step.overdue = true;
      return;
    case EventKind::step_shed:
    case EventKind::step_stopped:
      reopen(step);
      step.detail = text_in(event, "why");
      return;
    default:
      return;
  }
}

void apply_to_waiting(StepState& step, const playbooks::PlannedStep& planned, const Event& event) {
  switch (event.kind) {
    case EventKind::step_began:
      return begin_step(step, event);
    case EventKind::step_ended:  // it could never have begun
      return end_step(step, event);
    case EventKind::step_skipped:
      return skip_step(step, event);
    case EventKind::step_approved:
      if (!awaits_approval(planned)) return;
      step.phase = StepState::Phase::done;
      step.outcome = Outcome::done;
      step.detail = "approved by " + text_in(event, "by");
      step.ended = event.time;
      return;
    default:
      return;
  }
}

/// A person lets the node go on behind a failure: what was left out for it, and what judged with
/// it, comes again.
void pardon(NodeState& node, std::size_t failed, const Event& event) {
  skip_step(node.steps[failed], event);
  for (std::size_t i = failed + 1; i < node.steps.size(); ++i) {
    auto& step = node.steps[i];
    const bool again =
        step.phase == StepState::Phase::skipped || (step.over() && (*node.planned)[i].always);
    if (again) reopen(step);
  }
}

void retry_node(NodeState& node, std::size_t from) {
  for (auto i = from; i < node.steps.size(); ++i)
    if (node.steps[i].over()) reopen(node.steps[i]);
}

std::optional<std::size_t> index_of(const NodeState& node, std::string_view step) {
  const auto& planned = *node.planned;
  const auto at = std::ranges::find(planned, step, &playbooks::PlannedStep::name);
  if (at == planned.end()) return std::nullopt;
  return static_cast<std::size_t>(at - planned.begin());
}

void keep_fact(NodeState& node, std::string_view name, const boost::json::value& value) {
  constexpr std::size_t kMostFacts = 2000;
  if (node.facts.size() >= kMostFacts && !node.facts.contains(std::string{name})) return;
  if (value.is_string())
    node.facts[std::string{name}] = value.get_string();
  else if (!value.is_object() && !value.is_array() && !value.is_null())
    node.facts[std::string{name}] = boost::json::serialize(value);
}

/// `facts`, and measurements of the node as a whole.
void keep_facts(NodeState& node, const Event& event) {
  if (const auto* facts = event.data.if_contains("facts"); facts != nullptr && facts->is_object())
    for (const auto& [name, value] : facts->get_object()) keep_fact(node, name, value);
  const auto* measurements = event.data.if_contains("measurements");
  if (measurements == nullptr || !measurements->is_array()) return;
  for (const auto& each : measurements->get_array()) {
    if (!each.is_object() || each.get_object().contains("part")) continue;
    const auto* name = each.get_object().if_contains("name");
    const auto* value = each.get_object().if_contains("value");
    const bool told = name != nullptr && name->is_string() && value != nullptr;
    if (told) keep_fact(node, name->get_string(), *value);
  }
}

void apply_to_step(RunState& state, NodeState& node, std::size_t index, const Event& event) {
  auto& step = node.steps[index];
  const auto& planned = (*node.planned)[index];
  if (event.kind == EventKind::node_retried) return retry_node(node, index);
  if (step.phase == StepState::Phase::waiting) {
    apply_to_waiting(step, planned, event);
  } else if (step.phase == StepState::Phase::running) {
    apply_to_running(step, event);
  } else {
    const bool pardoned = step.phase == StepState::Phase::failed &&
                          event.kind == EventKind::step_skipped && by_a_person(event);
    if (pardoned) pardon(node, index, event);
    return;
  }
  if (event.kind != EventKind::step_ended) return;
  auto& tally = state.tallies[planned.name];
  ++tally.ended;
  if (step.phase == StepState::Phase::failed) ++tally.failed;
  keep_facts(node, event);
}

void approve_all(RunState& state, const Event& event) {
  for (auto& [name, node] : state.nodes) {
    if (!event.node.empty() && event.node != name) continue;
    for (std::size_t i = 0; i < node.steps.size(); ++i) {
      const bool meant = event.step.empty() || (*node.planned)[i].name == event.step;
      if (meant && node.steps[i].phase == StepState::Phase::waiting)
        apply_to_waiting(node.steps[i], (*node.planned)[i], event);
    }
  }
}

void release(RunState& state, const std::string& step) {
  if (step.empty()) {
    state.tallies.clear();
    state.halts.clear();
    state.pardoned = state.wave;
  } else {
    state.tallies.erase(step);
    state.halts.erase(step);
  }
}

/// Of the run as a whole. False: it is about a node.
bool apply_to_run(RunState& state, const Event& event) {
  switch (event.kind) {
    case EventKind::run_started:
      state.began = event.time;
      return true;
    case EventKind::run_resumed:
      state.phase = RunPhase::running;
      return true;
    case EventKind::run_interrupted:
      state.phase = RunPhase::interrupted;
      return true;
    case EventKind::run_cancelled:
      state.phase = RunPhase::cancelled;
      state.ended = event.time;
      return true;
    case EventKind::run_ended:
      state.phase = RunPhase::ended;
      state.ended = event.time;
      return true;
    case EventKind::run_paused:
      state.paused = true;
      return true;
    case EventKind::run_unpaused:
      state.paused = false;
      return true;
    case EventKind::run_halted:
      state.halts[text_in(event, "step")] = text_in(event, "why");
      return true;
    case EventKind::run_released:
      release(state, text_in(event, "step"));
      return true;
    case EventKind::wave_opened: {
      const auto nodes = std::clamp<std::int64_t>(number_of(event, "nodes"), 0, 1'000'000);
      state.wave = std::max(state.wave, static_cast<int>(nodes));
      return true;
    }
    case EventKind::step_approved:
      approve_all(state, event);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  for (const auto& [known, word] : kOutcomes)
    if (known == outcome) return word;
  __builtin_unreachable();
}

std::optional<Outcome> outcome_of(std::string_view word) {
  const auto present = present_word(kFormerOutcomes, word);
  for (const auto& [outcome, known] : kOutcomes)
    if (known == present) return outcome;
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
    state.nodes[node.node->name] = {std::vector<StepState>(node.steps->size()), node.steps, {}};
  return state;
}

void apply(RunState& state, const Event& event) {
  constexpr std::size_t kMostStrangers = 10'000;
  state.last_sequence = std::max(state.last_sequence, event.sequence);
  state.last_command = std::max(state.last_command, number_of(event, "command"));
  if (event.data.contains("refused")) return;
  if (apply_to_run(state, event)) return;
  const auto node = state.nodes.find(event.node);
  if (node == state.nodes.end()) {
    const bool told = !event.node.empty() && state.strangers.size() < kMostStrangers;
    if (told) state.strangers.insert(event.node);
    return;
  }
  const auto step = event.kind == EventKind::node_retried ? text_in(event, "from") : event.step;
  const auto index = index_of(node->second, step);
  if (index) apply_to_step(state, node->second, *index, event);
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
         planned.kind == StepKind::power_cycle;
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
