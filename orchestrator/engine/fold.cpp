#include "orchestrator/engine/fold.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <limits>

#include "base/json.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold_next.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

using Phase = StepState::Phase;

std::int64_t number_of(const Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::chrono::milliseconds pause_of(const Event& event, std::string_view key) {
  return std::chrono::milliseconds{std::max<std::int64_t>(0, number_of(event, key))};
}

bool by_a_person(const Event& event) { return event.data.contains("command"); }

/// A node as the fold sees it: with its trace where there is no plan.
struct FoldedNode {
  NodeState& state;
  NodeTrace* trace = nullptr;

  bool traced() const { return trace != nullptr; }
  std::string_view name_of(std::size_t step) const {
    return traced() ? trace->steps[step].name : (*state.planned)[step].name;
  }
  std::optional<std::size_t> index_of(std::string_view step) const {
    for (std::size_t i = 0; i < state.steps.size(); ++i)
      if (name_of(i) == step) return i;
    return std::nullopt;
  }
  bool is_always(std::size_t step) const { return !traced() && (*state.planned)[step].always; }
  void moved(std::size_t step, const Event& event) {
    if (!traced()) return;
    auto& of = trace->steps[step];
    if (of.moved == nullptr) of.met = event.time;
    of.moved = &event;
    of.between_tries = event.kind == EventKind::step_retried || event.kind == EventKind::step_shed;
  }
};

/// As if it had never begun; but its attempts go on counting, and its node is counted already.
void reopen(StepState& step) {
  StepState again;
  again.attempt = step.attempt;
  again.counted = step.counted;
  step = std::move(again);
}

void begin_step(StepState& step, const Event& event) {
  if (step.phase == Phase::waiting) {
    reopen(step);
    step.began = event.time;
  }
  step.phase = Phase::running;
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
  step.phase = step.outcome == Outcome::done ? Phase::done : Phase::failed;
  step.detail = text_in(event, "detail");
  step.ended = event.time;
  step.until = {};
  step.pause = {};
  step.ssh_lost = step.phase == Phase::failed && event.data.contains("ssh_lost");
}

void skip_step(StepState& step, const Event& event) {
  step.phase = Phase::skipped;
  step.detail = text_in(event, "why");
  step.ended = event.time;
}

void approve_step(StepState& step, const Event& event) {
  step.phase = Phase::done;
  step.outcome = Outcome::done;
  step.detail = "approved by " + text_in(event, "by");
  step.ended = event.time;
}

/// False: the event moves no step that runs.
bool apply_to_running(StepState& step, const Event& event) {
  switch (event.kind) {
    case EventKind::step_began:
      begin_step(step, event);
      return true;
    case EventKind::step_started:
      step.handle = text_in(event, "handle");
      return false;
    case EventKind::step_retried:
      retry_step(step, event);
      return true;
    case EventKind::step_ended:
      end_step(step, event);
      return true;
    case EventKind::step_overdue:
      step.overdue = true;
      return false;
    case EventKind::step_shed:
    case EventKind::step_stopped:
      reopen(step);
      step.detail = text_in(event, "why");
      return true;
    default:
      return false;
  }
}

/// False: the event moves no step that waits.
bool apply_to_waiting(StepState& step, const Event& event) {
  switch (event.kind) {
    case EventKind::step_began:
      begin_step(step, event);
      return true;
    case EventKind::step_ended:  // it could never have begun
      end_step(step, event);
      return true;
    case EventKind::step_skipped:
      skip_step(step, event);
      return true;
    default:
      return false;
  }
}

/// A person lets the node go on behind a failure: what was left out for it, and what judged with
/// it, comes again.
void pardon(FoldedNode& node, std::size_t failed, const Event& event) {
  skip_step(node.state.steps[failed], event);
  node.moved(failed, event);
  for (std::size_t i = failed + 1; i < node.state.steps.size(); ++i) {
    auto& step = node.state.steps[i];
    const bool again = step.phase == Phase::skipped || (step.over() && node.is_always(i));
    if (!again) continue;
    reopen(step);
    node.moved(i, event);
  }
}

/// What is over changes by a person's word alone. Where there is no plan, nothing says which steps
/// that brings back: then whatever the journal tells of them has happened.
void apply_to_over(FoldedNode& node, std::size_t index, const Event& event) {
  auto& step = node.state.steps[index];
  const bool skips = event.kind == EventKind::step_skipped;
  if (skips && step.phase == Phase::failed && by_a_person(event)) return pardon(node, index, event);
  if (!node.traced()) return;
  auto again = step;
  reopen(again);
  if (!apply_to_waiting(again, event)) return;
  step = std::move(again);
  node.moved(index, event);
}

void retry_node(FoldedNode& node, std::size_t from, const Event& event) {
  for (auto i = from; i < node.state.steps.size(); ++i) {
    if (!node.state.steps[i].over()) continue;
    reopen(node.state.steps[i]);
    node.moved(i, event);
  }
}

/// For the sake of the first step that failed the controller takes the node up again, or a person.
void count_retry(FoldedNode& node, const Event& event) {
  if (!node.traced()) return;
  if (text_in(event, "by") != kByItself) {
    node.trace->tried_by_people.push_back(node.trace->ends.size());
    return;
  }
  const auto& steps = node.state.steps;
  const auto failed = std::ranges::find(steps, Phase::failed, &StepState::phase);
  if (failed == steps.end()) return;
  ++node.trace->steps[static_cast<std::size_t>(failed - steps.begin())].revivals;
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
    const bool reported = name != nullptr && name->is_string() && value != nullptr;
    if (reported) keep_fact(node, name->get_string(), *value);
  }
}

using Counted = StepState::Counted;

/// A node that tries again is counted by its last end alone.
void count_end(Tally& tally, StepState& step) {
  const bool done = step.phase == Phase::done;
  if (step.counted == Counted::no) ++tally.ended;
  if (step.counted == Counted::failed) --tally.failed;
  if (!done) ++tally.failed;
  step.counted = done ? Counted::ended : Counted::failed;
}

/// A step has ended: how the run goes on all nodes, and what was found out on this one.
void keep_end(RunState& state, FoldedNode& node, std::size_t index, const Event& event) {
  const bool done = node.state.steps[index].phase == Phase::done;
  count_end(state.tallies[std::string{node.name_of(index)}], node.state.steps[index]);
  keep_facts(node.state, event);
  if (!node.traced()) return;
  node.trace->ends.push_back(&event);
  if (done) node.trace->steps[index].done = &event;
}

/// A step that ended may send its node back: earlier steps are done again, and then it is.
void send_back(FoldedNode& node, std::size_t index, const Event& event) {
  const auto* again = event.data.if_contains(kAgain);
  if (again == nullptr || !again->is_array()) return;
  bool any = false;
  const auto reopen_step = [&](std::size_t step) {
    reopen(node.state.steps[step]);
    node.moved(step, event);
    any = true;
  };
  for (const auto& name : again->get_array()) {
    if (!name.is_string()) continue;
    const auto step = node.index_of(std::string_view{name.get_string()});
    if (step && *step < index && node.state.steps[*step].over()) reopen_step(*step);
  }
  if (any) reopen_step(index);
}

void apply_to_step(RunState& state, FoldedNode& node, std::size_t index, const Event& event) {
  if (event.kind == EventKind::node_retried) return retry_node(node, index, event);
  auto& step = node.state.steps[index];
  if (step.over()) {
    apply_to_over(node, index, event);
    if (!node.traced()) return;
  } else {
    const bool moves = step.phase == Phase::waiting ? apply_to_waiting(step, event)
                                                    : apply_to_running(step, event);
    if (moves) node.moved(index, event);
  }
  if (event.kind == EventKind::step_ended) {
    keep_end(state, node, index, event);
    send_back(node, index, event);
  }
  if (event.kind == EventKind::step_started && node.traced())
    node.trace->steps[index].started = &event;
}

/// Where there is no plan a step is known as an approval by its being approved, or by its name.
bool is_approval(const FoldedNode& node, std::size_t step, const Event& event) {
  if (!node.traced()) return awaits_approval((*node.state.planned)[step]);
  return !event.step.empty() || node.name_of(step).starts_with("approval");
}

void approve(FoldedNode node, const Event& event) {
  for (std::size_t i = 0; i < node.state.steps.size(); ++i) {
    const bool meant = event.step.empty() || node.name_of(i) == event.step;
    auto& step = node.state.steps[i];
    if (!meant || step.phase != Phase::waiting || !is_approval(node, i, event)) continue;
    approve_step(step, event);
    node.moved(i, event);
  }
}

NodeTrace* trace_of(RunTrace* trace, std::string_view node) {
  return trace == nullptr ? nullptr : &trace->nodes.find(node)->second;
}

void approve_all(RunState& state, RunTrace* trace, const Event& event) {
  for (auto& [name, node] : state.nodes)
    if (event.node.empty() || event.node == name) approve({node, trace_of(trace, name)}, event);
}

void release(RunState& state, RunTrace* trace, const std::string& step) {
  for (auto& [name, node] : state.nodes) {
    const FoldedNode folded{node, trace_of(trace, name)};
    for (std::size_t i = 0; i < node.steps.size(); ++i)
      if (step.empty() || folded.name_of(i) == step) node.steps[i].counted = Counted::no;
  }
  if (step.empty()) {
    state.tallies.clear();
    state.halts.clear();
    state.pardoned = state.wave;
  } else {
    state.tallies.erase(step);
    state.halts.erase(step);
  }
}

void move_phase(RunState& state, RunPhase phase, const Event& event) {
  if (event.kind == EventKind::run_started)
    state.began = event.time;
  else
    state.phase = phase;
  if (phase == RunPhase::cancelled || phase == RunPhase::ended) state.ended = event.time;
}

/// Of the run as a whole. False: it is about a node.
bool apply_to_run(RunState& state, RunTrace* trace, const Event& event) {
  if (const auto phase = phase_after(event.kind)) {
    move_phase(state, *phase, event);
    return true;
  }
  switch (event.kind) {
    case EventKind::run_paused:
    case EventKind::run_unpaused:
      state.paused = event.kind == EventKind::run_paused;
      if (trace != nullptr) trace->paused = state.paused ? &event : nullptr;
      return true;
    case EventKind::run_halted:
      state.halts[text_in(event, "step")] = text_in(event, "why");
      return true;
    case EventKind::run_released:
      release(state, trace, text_in(event, "step"));
      return true;
    case EventKind::wave_opened: {
      const auto nodes = std::clamp<std::int64_t>(number_of(event, "nodes"), 0, 1'000'000);
      state.wave = std::max(state.wave, static_cast<int>(nodes));
      return true;
    }
    case EventKind::step_approved:
      approve_all(state, trace, event);
      return true;
    default:
      return false;
  }
}

/// Without a plan, what the run's events name is what there is.
class Growth {
 public:
  explicit Growth(FoldedRun& run) : run_{run} {}

  void take(const Event& event) {
    if (event.kind == EventKind::run_started) return take_names(event);
    if (event.kind == EventKind::step_approved) return take_approval(event);
    if (event.node.empty()) return;
    add(event.node, event.kind == EventKind::node_retried ? std::string{} : event.step);
  }

 private:
  void take_names(const Event& event) {
    const auto* nodes = event.data.if_contains("nodes");
    const auto* steps = event.data.if_contains("steps");
    if (nodes != nullptr && nodes->is_array())
      for (const auto& node : nodes->get_array()) {
        const auto* name = node.is_object() ? node.get_object().if_contains("name") : nullptr;
        if (name != nullptr && name->is_string()) add(std::string{name->get_string()}, {});
      }
    if (steps != nullptr && steps->is_array())
      for (const auto& step : steps->get_array())
        if (step.is_string()) run_.trace.steps.emplace_back(step.get_string());
  }

  /// Of a node or of all, of the step that it names or of all approvals.
  void take_approval(const Event& event) {
    if (!event.node.empty()) add(event.node, {});
    std::vector<std::string> steps{event.step};
    if (event.step.empty()) steps = run_.trace.steps;
    std::erase_if(steps, [&](const std::string& step) {
      return event.step.empty() && !step.starts_with("approval");
    });
    for (const auto& [name, node] : run_.trace.nodes)
      for (const auto& step : steps)
        if (event.node.empty() || event.node == name) add(name, step);
  }

  void add(const std::string& name, const std::string& step) {
    auto& state = run_.state.nodes[name];
    auto& trace = run_.trace.nodes[name];
    if (step.empty() || FoldedNode{state, &trace}.index_of(step)) return;
    state.steps.emplace_back();
    trace.steps.push_back({step});
  }

  FoldedRun& run_;
};

bool was_refused(const Event& event) { return event.data.contains("refused"); }

std::string step_meant(const Event& event) {
  auto from = event.kind == EventKind::node_retried ? text_in(event, "from") : std::string{};
  return from.empty() ? event.step : from;
}

void apply_to(RunState& state, RunTrace* trace, const Event& event) {
  constexpr std::size_t kMostStrangers = 10'000;
  state.last_sequence = std::max(state.last_sequence, event.sequence);
  state.last_command = std::max(state.last_command, number_of(event, "command"));
  if (was_refused(event) || apply_to_run(state, trace, event)) return;
  const auto known = state.nodes.find(event.node);
  if (known == state.nodes.end()) {
    const bool reported = !event.node.empty() && state.strangers.size() < kMostStrangers;
    if (reported) state.strangers.insert(event.node);
    return;
  }
  FoldedNode node{known->second, trace_of(trace, event.node)};
  if (event.kind == EventKind::node_retried) count_retry(node, event);
  const auto index = node.index_of(step_meant(event));
  if (index) apply_to_step(state, node, *index, event);
}

}  // namespace

std::optional<RunPhase> phase_after(EventKind kind) {
  switch (kind) {
    case EventKind::run_started:
    case EventKind::run_resumed:
      return RunPhase::running;
    case EventKind::run_interrupted:
      return RunPhase::interrupted;
    case EventKind::run_cancelled:
      return RunPhase::cancelled;
    case EventKind::run_ended:
      return RunPhase::ended;
    default:
      return std::nullopt;
  }
}

void apply(RunState& state, const Event& event) { apply_to(state, nullptr, event); }

void fold_next(FoldedRun& run, const Event& event) {
  if (!was_refused(event)) Growth{run}.take(event);
  apply_to(run.state, &run.trace, event);
}

FoldedRun fold(std::span<const Event> events) {
  FoldedRun run;
  for (const auto& event : events) fold_next(run, event);
  return run;
}

}  // namespace cupel::engine
