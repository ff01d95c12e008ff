#pragma once
// Where a run stands: a fold over its events, and what is to be done next. Pure; decided here, done
// elsewhere, so that a crash is a matter of folding again. docs/build/engine.md draws the states.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/engine/event.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

/// How a step ended. The first three are not ends: `wait` and `retry` lead to another try.
enum class Outcome { done, wait, retry, reject, needs_operator, bmc_unresponsive };

std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_of(std::string_view word);

struct StepState {
  enum class Phase { waiting, running, done, failed, skipped } phase = Phase::waiting;
  int attempt = 0;  // counts every step_began, for ever
  int tries = 0;    // transient failures and waits since it last began from `waiting`
  int retries = 0;  // of these, the failures
  std::optional<std::string> handle{};
  Outcome outcome = Outcome::done;  // of an ended step
  std::string detail{};
  WallTime began{};
  WallTime ended{};
  WallTime until{};                   // between two tries: when the next begins; else the epoch
  std::chrono::milliseconds pause{};  // the pause that `until` was reckoned from
  std::chrono::milliseconds spent{};  // of the deadline, up to the last try's end
  bool overdue = false;               // this try takes longer than expected by far
  bool ssh_lost = false;  // it failed, and the node answered SSH no more after its end either
  /// What the run's tally of this step holds of this node: it counts once, however often it tries.
  enum class Counted { no, ended, failed } counted = Counted::no;

  bool over() const { return phase != Phase::waiting && phase != Phase::running; }
  friend bool operator==(const StepState&, const StepState&) = default;
};

/// Under this name a verdict step tells what it decided: "pass", "fail", "inconclusive".
inline constexpr std::string_view kVerdictFact = "verdict";

struct NodeState {
  std::vector<StepState> steps{};                                        // in the plan's order
  std::shared_ptr<const std::vector<playbooks::PlannedStep>> planned{};  // the plan's own
  /// What conditions may ask: "bmc.vendor", and measurements of the node as a whole.
  std::map<std::string, std::string> facts{};

  friend bool operator==(const NodeState& a, const NodeState& b) {
    return a.steps == b.steps && a.facts == b.facts;
  }
};

/// `submitted`: written, with its nodes locked; a controller has yet to take it up.
enum class RunPhase { submitted, running, interrupted, cancelled, ended };
std::string_view to_string(RunPhase phase);
std::optional<RunPhase> run_phase(std::string_view word);

/// How a step went last on each node where it ended, since a person last looked (run_released).
/// Counts nodes.
struct Tally {
  int ended = 0;
  int failed = 0;
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct RunState {
  RunPhase phase = RunPhase::running;
  std::map<std::string, NodeState, std::less<>> nodes{};
  WallTime began{};
  WallTime ended{};
  bool paused = false;
  std::map<std::string, std::string, std::less<>> halts{};  // step -> why; "" is the canary's
  std::map<std::string, Tally, std::less<>> tallies{};      // by step
  int wave = 0;      // of the canary: so many nodes may work; 0: none was opened yet
  int pardoned = 0;  // the wave whose failures a person has looked at
  std::int64_t last_command = 0;
  std::int64_t last_sequence = 0;     // of the events folded so far
  std::set<std::string> strangers{};  // nodes of events that the plan does not know; bounded

  friend bool operator==(const RunState&, const RunState&) = default;
};

/// Every step of the plan, waiting.
RunState initial_state(const playbooks::Plan& plan);

/// Replays one fact (fold.h). Total: an event of a node or step that the plan does not know changes
/// nothing (but see `strangers`), and so does one that makes no sense in the step's phase.
void apply(RunState& state, const Event& event);

/// What a node's runner must do next.
struct Next {
  enum class Kind { perform, await_approval, skip, nothing } kind = Kind::nothing;
  std::size_t step = 0;
  std::string why{};  // of a skip
};

/// `skipped_below`: steps in front of this one that still wait are taken for skipped.
Next next(const playbooks::NodePlan& plan, const NodeState& state, std::size_t skipped_below = 0);

/// A step that only a person's word ends.
bool awaits_approval(const playbooks::PlannedStep& step);

}  // namespace cupel::engine
