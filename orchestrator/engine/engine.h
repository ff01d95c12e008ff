#pragma once
// Executes a plan: journals the intent, has the step done, journals the outcome, retries what is
// transient. Knows no BMC, no SSH and no database: see doors.h.
#include "orchestrator/engine/doors.h"

namespace cupel::engine {

/// Pauses between tries of a transient failure: doubled each time, never longer than `longest`.
struct Backoff {
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{60'000};
};

class Engine {
 public:
  /// All of them must outlive the engine. `state` is what the run's events replay to so far.
  Engine(RunId run, const playbooks::Plan& plan, RunState state, Journal& journal, Steps& steps,
         Observer& observer, Backoff backoff = {});

  /// Runs until every node is through, or the stop. Errors: kStorage (the journal cannot be
  /// written: nothing more was started); kCancelled after stop(). Resumable in both cases, unless
  /// cancelled.
  Task<Result<void>> run();

  /// Ends soon: steps clean up, nothing new begins. Callable from a signal handler on the loop.
  void stop(Stop why);

  const RunState& state() const { return state_; }
  Stop why_stopped() const { return stop_; }

 private:
  Task<Result<void>> drive(std::size_t node);
  Task<Result<void>> skip(const playbooks::NodePlan& plan, const Next& what);
  Task<Result<void>> perform(const playbooks::NodePlan& plan, std::size_t step);
  Task<Result<StepEnd>> try_once(const playbooks::NodePlan& plan, std::size_t step,
                                 Deadline deadline);
  Result<void> write(Event event);
  Task<Result<void>> write_soon(Event event);
  std::chrono::milliseconds pause_after(int attempt, const StepEnd& end) const;

  RunId run_;
  const playbooks::Plan& plan_;
  RunState state_;
  Journal& journal_;
  Steps& steps_;
  Observer& observer_;
  Backoff backoff_;
  Stop stop_ = Stop::no;
  std::optional<Error> broken_{};  // the journal's first failure: nothing is done after it
  asio::cancellation_signal stopper_{};
};

}  // namespace cupel::engine
