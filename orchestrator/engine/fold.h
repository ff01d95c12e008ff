#pragma once
// The one reading of a journal: which event moves a run, a node or a step where to. The engine
// folds into a RunState alone, by its plan (apply() in run_state.h). Reports have no plan: nodes
// and steps come up as events name them, each with a trace of the events that count. Everything
// that is reported of a run's course is a view of this. Pure.
#include <span>

#include "orchestrator/engine/run_state.h"

namespace cupel::engine {

/// What reports want of a step beside its state. Points into the events that were folded.
struct StepTrace {
  std::string name;
  WallTime met{};                  // of the first event that moved it
  const Event* moved = nullptr;    // brought it where it stands; null: it was never met
  const Event* started = nullptr;  // the last that started something on the node
  const Event* done = nullptr;     // the last that ended it as done
  int revivals = 0;                // begun again by the controller, without a person's word
  bool between_tries = false;
};

struct NodeTrace {
  std::vector<StepTrace> steps{};    // as NodeState::steps, in the order in which they came up
  std::vector<const Event*> ends{};  // of its steps, with what they found
  // Each time a person had it tried again, as after a repair: how many ends came before.
  std::vector<std::size_t> tried_by_people{};
};

struct RunTrace {
  std::map<std::string, NodeTrace, std::less<>> nodes{};  // as RunState::nodes
  std::vector<std::string> steps{};                       // as the run's first event lists them
  const Event* paused = nullptr;
};

/// `state` is what apply() makes of the same events, but for what only a plan can tell: its nodes'
/// `planned` is null.
struct FoldedRun {
  RunState state{};
  RunTrace trace{};
};

/// The events, of a run or of one of its nodes, must outlive the result.
FoldedRun fold(std::span<const Event> events);

/// What a run's phase is after the event; nothing if it stays.
std::optional<RunPhase> phase_after(EventKind kind);

}  // namespace cupel::engine
