#pragma once
// Executes plans: journals the intent, has the step done, journals the outcome, retries what is
// transient. One loop for all runs of a controller; once a turn, all that happened is written with
// one fsync, and nothing is done before the event that says so is durable. While a journal writes,
// the world goes on: what it brings waits for the next turn. Knows no BMC, no SSH and no database:
// see interfaces.h. What may begin is the dispatcher's to say, what is next run_state.h's.
#include <map>
#include <set>

#include "orchestrator/engine/command.h"
#include "orchestrator/engine/dispatcher.h"
#include "orchestrator/engine/interfaces.h"
#include "playbooks/fwd.h"

namespace cupel::engine {

struct ActiveRun;
struct Receipt;
struct Work;

/// What follows once an event is durable.
struct Then {
  enum class What { nothing, launch, pause, close } what = What::nothing;
  Work* work = nullptr;
  Receipt* receipt = nullptr;
};

/// Pauses between tries of a transient failure: doubled each time, never longer than `longest`.
struct Backoff {
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{60'000};
};

/// A run as the engine takes it. What is referred to must outlive the engine, or stay until
/// forget().
struct RunSetup {
  RunId run = 0;
  const playbooks::Plan& plan;
  RunState state;  // what the run's events replay to so far
  Journal& journal;
  Steps& steps;
  Observer& observer;
  Backoff backoff{};
  std::optional<Event> first{};  // run_started or run_resumed: written before anything else
  Snapshots* snapshots = nullptr;
  /// How long a finished run stays open after a step that waits for repair, so that the node can be
  /// retried once an operator has repaired it.
  std::chrono::seconds repair_patience{0};
};

class Engine {
 public:
  Engine(Dispatcher& dispatcher, Clock& clock);
  ~Engine();

  /// At any time, also while run() works.
  void add(RunSetup setup);

  /// At any time: lets go of a run that is finished, and of all that its setup refers to. False:
  /// the run is not finished, and stays. A run that is not here is forgotten already.
  bool forget(RunId run);

  /// Until every run has ended, each with its last event (run_ended, run_interrupted,
  /// run_cancelled) in its journal. Cancel-safe: as stop(interrupt). Errors: kStorage (a journal
  /// cannot be written: nothing more was started anywhere); kCancelled where a run was stopped.
  /// Resumable in both cases, unless cancelled.
  Task<Result<void>> run();

  /// What a person asked for; while run() works. Returns when the event that says so is durable (of
  /// `cancel`: at once). Taken before: nothing. Errors: kNotFound: no such run works here;
  /// kInvalid: it made no sense, which is written too, so that nobody asks again; kStorage.
  Task<Result<void>> take(Command command);

  /// Ends soon: steps clean up, nothing new begins. Callable from a signal handler on the loop.
  void stop(Stop why);
  void stop(RunId run, Stop why);

  /// What a BMC measured just now.
  void measured(std::string_view node, double watts);

  /// Of a run that was added; as its journal has it.
  const RunState& state(RunId run) const;
  /// Nothing more happens in it here. One that was interrupted before and was added since is not,
  /// although its state says so until its first event is written.
  bool finished(RunId run) const;
  /// Whether it is halted, and nothing of it goes on until an operator continues it.
  bool halted(RunId run) const;
  /// How long a finished run still stays open for a repair; nothing if it does not.
  std::optional<std::chrono::milliseconds> waits_for_repair(RunId run) const;
  Stop why_stopped(RunId run) const;

  /// What is ready and may not begin, and why.
  struct Held {
    RunId run = 0;
    std::string node{};
    std::string step{};
    std::string why{};
  };
  std::vector<Held> held() const;

 private:
  using Time = Clock::Time;

  // engine.cpp: the turn.
  ActiveRun* find(RunId run) const;
  Task<void> loop();
  Task<void> turn();
  Time next_alarm() const;
  void nudge();
  Task<void> commit();
  void take_effect(ActiveRun& run, std::span<const Event> events, std::span<const Then> thens);
  bool queued() const;
  void break_down(Error error);
  void queue(ActiveRun& run, Event event, Then then);
  void follow(ActiveRun& run, const Event& event);
  void follow(ActiveRun& run, const Then& then);
  void keep_snapshot(ActiveRun& run, std::size_t more);
  void carry_out_stops();
  void finish_runs();
  bool waits_for_repair(ActiveRun& run) const;

  // schedule.cpp: what is next for each node.
  void settle();
  void settle(ActiveRun& run, std::size_t node);
  void offer(ActiveRun& run, std::vector<std::size_t> nodes);
  void arrive(ActiveRun& run, std::size_t node, std::size_t group);
  void check_group(ActiveRun& run, std::size_t group);
  void admit(ActiveRun& run);
  void open_wave(ActiveRun& run);
  void take_up(ActiveRun& run);
  void check_circuit(ActiveRun& run, const Event& event);
  void withdraw_all(ActiveRun& run, std::string_view step);

  // work.cpp: one step being done.
  void begin();
  void queue_began(Work& work);
  void launch(Work& work);
  Task<Result<void>> keep_handle(Work& work, std::string handle);
  void digest(Work& work);
  void try_again(Work& work, StepEnd end);
  void close(Work& work);
  static Task<void> tail_of(Work& work);
  StepRequest request_for(Work& work, Time deadline);
  void queue_for_all(Work& work, EventKind kind, boost::json::object data, Then::What what);
  void release(Work& work);
  void fire_timers();
  void schedule(Work& work);

  // abort.cpp: how a step ends for good, and leaves nothing behind.
  void end(Work& work, StepEnd end);
  void put_back(Work& work, std::string why);
  void leave(Work& work);
  void conclude(Work& work, EventKind kind, StepEnd end);
  void abort(Work& work);
  /// Runs `task`, which the work's signal cancels; digest() hears of its end.
  void spawn(Work& work, Task<void> task);
  void digest_abort(Work& work);
  void write_last(Work& work, boost::json::object data);
  void shed();

  Dispatcher& dispatcher_;
  Clock& clock_;
  std::vector<std::unique_ptr<ActiveRun>> runs_;
  std::map<Dispatcher::Ticket, std::unique_ptr<Work>> works_;  // offered, or being done
  std::set<std::pair<Time, Dispatcher::Ticket>> timers_{};     // at most one of each work
  std::vector<Dispatcher::Ticket> shedding_{};  // to be ended for want of power, as soon as it can
  std::vector<Dispatcher::Ticket> returned_{};  // whose try, or tail, ended since the last turn
  std::optional<Error> broken_{};  // the journal's first failure: nothing is done after it
  bool nudged_ = false;
  bool asleep_ = false;
  bool was_measured_ = false;
  bool dispatch_ = false;  // something was offered or ended since start() was asked last
  asio::any_io_executor executor_{};
  asio::cancellation_signal sleeper_{};
};

}  // namespace cupel::engine
