// What people ask of a run that works, as events with their name on them.
#include "orchestrator/engine/active_run.h"

namespace cupel::engine {
namespace {

using Kind = Command::Kind;

EventKind event_for(Kind kind) {
  switch (kind) {
    case Kind::cancel:
      return EventKind::run_cancelled;
    case Kind::pause:
      return EventKind::run_paused;
    case Kind::unpause:
      return EventKind::run_unpaused;
    case Kind::approve:
      return EventKind::step_approved;
    case Kind::retry:
      return EventKind::node_retried;
    case Kind::skip:
      return EventKind::step_skipped;
    case Kind::release:
      return EventKind::run_released;
  }
  __builtin_unreachable();
}

std::string first_failed(const NodeState& node) {
  const auto at = std::ranges::find(node.steps, StepState::Phase::failed, &StepState::phase);
  if (at == node.steps.end()) return {};
  return (*node.planned)[static_cast<std::size_t>(at - node.steps.begin())].name;
}

const StepState* step_of(const NodeState& node, std::string_view name) {
  const auto at = std::ranges::find(*node.planned, name, &playbooks::PlannedStep::name);
  if (at == node.planned->end()) return nullptr;
  return &node.steps[static_cast<std::size_t>(at - node.planned->begin())];
}

/// From its failed step on, or from an earlier one.
std::string no_retry(const NodeState& node, const Command& command) {
  const auto failed = first_failed(node);
  const auto* from = step_of(node, command.step);
  // What proved nothing is done again, and a verdict when other nodes have reported.
  if (failed.empty() && from != nullptr && from->over()) return {};
  if (failed.empty()) return command.node + " has no failed step";
  if (command.step.empty() || command.step == failed) return {};
  if (from == nullptr) return command.node + " has no step '" + command.step + "'";
  const bool earlier = from < step_of(node, failed);
  return earlier ? "" : command.step + " of " + command.node + " is behind its failed step";
}

/// Why the command makes no sense; empty if it does.
std::string senseless(const RunState& state, const Command& command) {
  const bool of_a_node = command.kind == Kind::retry || command.kind == Kind::skip;
  const bool of_any = command.kind == Kind::approve && command.node.empty();
  if (!of_a_node && (of_any || command.kind != Kind::approve)) return {};
  const auto node = state.nodes.find(command.node);
  if (node == state.nodes.end()) return "the run has no node '" + command.node + "'";
  if (command.kind == Kind::retry) return no_retry(node->second, command);
  if (command.kind == Kind::approve && command.step.empty()) return {};
  const auto* step = step_of(node->second, command.step);
  if (step == nullptr) return command.node + " has no step '" + command.step + "'";
  if (command.kind != Kind::skip) return {};
  if (step->phase == StepState::Phase::running)
    return command.step + " of " + command.node + " is being done";
  const bool skippable =
      step->phase == StepState::Phase::waiting || step->phase == StepState::Phase::failed;
  return skippable ? "" : command.step + " of " + command.node + " is over";
}

Event event_for(const RunState& state, const Command& command, const std::string& refused) {
  auto event = event_of(event_for(command.kind));
  event.data = {{"by", command.by}, {"command", command.id}};
  if (!command.text.empty()) event.data["why"] = command.text;
  if (command.kind == Kind::skip) event.data["because"] = "person";
  if (!refused.empty()) event.data["refused"] = refused;
  if (command.kind == Kind::release) {
    event.data["step"] = command.step;
    return event;
  }
  event.node = command.node;
  event.step = command.step;
  if (command.kind == Kind::retry && refused.empty())
    event.data["from"] =
        command.step.empty() ? first_failed(state.nodes.find(command.node)->second) : command.step;
  return event;
}

}  // namespace

Task<Result<void>> Engine::take(Command command) {
  auto* run = find(command.run);
  if (run == nullptr || run->finished || run->ending)
    co_return Error{Code::kNotFound, "no run " + std::to_string(command.run) + " works here"};
  const bool taken = command.id != 0 && command.id <= run->state().last_command;
  if (taken) co_return ok();
  if (command.kind == Kind::cancel) {
    run->cancel = command;
    stop(command.run, Stop::cancel);
    co_return ok();
  }
  const auto refused = senseless(run->state(), command);
  Receipt receipt{executor_};
  Then then;
  then.receipt = &receipt;
  queue(*run, event_for(run->state(), command, refused), then);
  nudge();
  CO_TRY(co_await wait_for(receipt));
  if (!refused.empty()) co_return Error{Code::kInvalid, refused};
  co_return ok();
}

}  // namespace cupel::engine
