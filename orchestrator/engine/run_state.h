#pragma once
// Where a run stands: a fold over its events, and what is to be done next. Pure; decided here, done
// elsewhere, so that a crash is a matter of folding again.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"
#include "playbooks/plan.h"

namespace cupel::engine {

/// How a step ended. The first three are not ends: `wait` and `retry` lead to another try.
enum class Outcome { done, wait, retry, reject, needs_hands, suspect_bmc };

std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_of(std::string_view word);

struct StepState {
  enum class Phase { waiting, running, done, failed, skipped } phase = Phase::waiting;
  int attempt = 0;  // 1 with the first step_began
  std::optional<std::string> handle{};
  Outcome outcome = Outcome::done;  // of an ended step
  std::string detail{};
  WallTime began{};
  WallTime ended{};

  bool over() const { return phase != Phase::waiting && phase != Phase::running; }
  friend bool operator==(const StepState&, const StepState&) = default;
};

struct NodeState {
  std::vector<StepState> steps{};                                        // in the plan's order
  std::shared_ptr<const std::vector<playbooks::PlannedStep>> planned{};  // the plan's own

  friend bool operator==(const NodeState& a, const NodeState& b) { return a.steps == b.steps; }
};

/// `submitted`: written, with its nodes locked; a controller has yet to take it up.
enum class RunPhase { submitted, running, interrupted, cancelled, ended };
std::string_view to_string(RunPhase phase);
std::optional<RunPhase> run_phase(std::string_view word);

struct RunState {
  RunPhase phase = RunPhase::running;
  std::map<std::string, NodeState, std::less<>> nodes{};
  WallTime began{};
  WallTime ended{};
};

/// Every step of the plan, waiting.
RunState initial_state(const playbooks::Plan& plan);

/// Replays one fact. Total: an event of a node or step that the plan does not know changes nothing,
/// and so does one that makes no sense in the step's phase.
void apply(RunState& state, const Event& event);

/// What a node's runner must do next.
struct Next {
  enum class Kind { perform, skip, nothing } kind = Kind::nothing;
  std::size_t step = 0;
  std::string why{};  // of a skip
};

Next next(const playbooks::NodePlan& plan, const NodeState& state);

}  // namespace cupel::engine
