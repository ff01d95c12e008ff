#pragma once
// What the engine asks of the world: a journal to write, somebody who does steps, somebody who
// watches. The real ones are in store/, steps/ and controller/; tests bring their own.
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/task.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/event.h"
#include "orchestrator/engine/run_state.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

class Journal {
 public:
  virtual ~Journal() = default;
  /// All of them or none, in their order, durable when it returns: one fsync for all. Gives each
  /// its sequence and hash, and its time. `events` outlive the call, and nobody touches them
  /// meanwhile. The loop goes on: only one append of a journal is under way at a time, and it is
  /// never cancelled. Errors: kStorage.
  virtual Task<Result<void>> append(std::span<Event> events) = 0;
};

/// Keeps where a run stood, so that a resume folds only what came behind it.
class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// `state` as state_codec.h writes it, all events up to `sequence` folded. One that could not be
  /// kept costs time at the next resume and nothing else.
  virtual void keep(std::int64_t sequence, std::string_view state) = 0;
};

/// How a step ended, and what it found: `found` becomes part of the event.
struct StepEnd {
  Outcome outcome = Outcome::done;
  Outcome at_last = Outcome::reject;  // what a `retry` or `wait` is where no try is left
  std::string detail{};
  boost::json::object found{};
  std::chrono::milliseconds retry_after{0};  // of `retry` and `wait`; 0: the engine's own backoff
  /// Done once the end is in the journal: what a resume would still have needed may go now. An end
  /// that has none, and is not `done`, is followed by Steps::abort().
  std::function<Task<void>()> when_written{};
  /// What the handle names was ended by a controller that died before it could say so: half of it
  /// proves nothing, and it is to begin anew. Heard only of a handle that an earlier controller
  /// kept; else the outcome counts.
  bool begin_anew = false;
};

/// Why the controller is stopping. Read by a step that finds itself cancelled.
/// `shed`: this step alone, for want of power; it is offered again from its beginning.
enum class Stop { no, interrupt, cancel, shed };

struct StepRequest {
  RunId run = 0;
  const inventory::Node& node;                    // the first of them, where several do it together
  std::vector<const inventory::Node*> members{};  // all of them; empty where it is one alone
  const playbooks::PlannedStep& step;
  int attempt = 1;
  std::optional<std::string> handle;  // of what was started before: re-attach, never repeat
  Deadline deadline;
  const Stop& stop;
  /// To be called with the handle of what is about to be started, before it is. Errors: kStorage:
  /// then it must not be started.
  std::function<Task<Result<void>>(std::string)> started;
  /// What the step waits for, for people: "POST (2:10 of 15:00)".
  std::function<void(std::string)> waiting;
  /// Where the run stands now, for steps that compare nodes with each other. Only the engine gives
  /// it. What it says, and what refers into it, holds until the step awaits something.
  const RunState* run_state = nullptr;
};

class Steps {
 public:
  virtual ~Steps() = default;
  /// One try. Looks first: already so is done. When cancelled it ends soon, and leaves alone what
  /// its handle names: abort() is asked for where that is no longer needed. Errors: kCancelled,
  /// kStorage, and nothing else: all other failures are a StepEnd.
  virtual Task<Result<StepEnd>> perform(StepRequest request) = 0;
  /// Ends what `request.handle` names, and whatever that started; leaves nothing of it. It may have
  /// ended before, or never begun; what cannot be broken off is waited for. Idempotent. Errors: why
  /// it may go on; kUnreachable: the node does not answer SSH, and nothing else.
  virtual Task<Result<void>> abort(StepRequest request) = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const Event& event, const RunState& state) = 0;
  virtual void on_waiting(std::string_view node, std::string_view step, std::string_view what) = 0;
};

}  // namespace cupel::engine
