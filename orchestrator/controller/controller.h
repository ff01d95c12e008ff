#pragma once
// The one process of a state folder that drives runs: its own, and those that others submit while
// it lives. Takes what people ask for, once a second; tells how it stands in a file beside the
// store, for `cupel status`. What is done next is the engine's to say. No terminal: see front.h.
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "orchestrator/controller/connections.h"
#include "orchestrator/controller/front.h"
#include "orchestrator/controller/notify.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/controller/task_group.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/store/background_journal.h"

namespace cupel::controller {

struct Settings {
  std::string version;               // of this program, for the runs' records
  std::filesystem::path programs{};  // where cupel-node and cupel-burn lie; empty: beside cupel
  /// Also when nothing is left to do, until it is stopped. Resumes what one like it drove before.
  bool stays = false;
  /// Once each run is halted and nothing of it is at work: as if it were interrupted.
  bool ends_when_halted = false;
};

class Controller {
 public:
  /// Both must outlive it; the folder's ControllerLock is the caller's. From here on SIGINT,
  /// SIGTERM and SIGHUP are work()'s: a service that has said that it is ready may be sent one at
  /// once.
  Controller(Front& front, store::Store& store, Settings settings);
  ~Controller();

  /// A run of this process's own, before work(). Errors: kStorage, kInvalid (a secret is missing).
  Result<void> add(std::unique_ptr<Planned> planned, const store::Run& run);

  /// Until every run has ended: own ones and those that were taken up meanwhile. SIGINT and SIGTERM
  /// stop all of them. SIGHUP stops none: the terminal is gone, the work goes on. Errors: as
  /// Engine::run.
  Result<void> work();

  const engine::RunState& state(engine::RunId run) const { return engine_.state(run); }
  engine::Stop why_stopped(engine::RunId run) const { return engine_.why_stopped(run); }

 private:
  struct Driven;

  Result<std::unique_ptr<Driven>> make(std::unique_ptr<Planned> planned, const store::Run& run);
  void show_from_now_on(Driven& driven);
  void drive(std::unique_ptr<Driven> driven);
  Task<Result<void>> work_all();
  Task<Result<void>> listen();
  Task<Result<void>> attend();
  Task<Result<void>> run_all();
  Task<void> end_all(TaskGroup& group);
  void lose(const Error& error);
  void stop_all();
  bool works() const;
  bool all_are_halted() const;
  void go_on_without_terminal();
  void note_lost_terminal();
  Task<Result<void>> take_commands(Driven& driven);
  void take_up_submitted();
  void resume_own_runs();
  void take_up(const store::Run& run, bool restarted = false);
  void refuse(const store::Run& run, const std::string& why);
  void publish();
  void show(Driven& driven);
  void end_companions(Driven& driven);
  void forget_ended_runs();
  void announce(Weight weight, engine::RunId run, std::string_view event, const std::string& line);
  std::optional<engine::WallTime> hands_until(engine::RunId run) const;
  void start_companions(Driven& driven);

  Front& front_;
  store::Store& store_;
  Settings settings_;
  Network network_;
  asio::signal_set signals_;
  store::JournalThread writer_;  // ended before the loop whose coroutines await it
  asio::steady_timer news_;      // cancelled where a run was added or all are to stop
  std::shared_ptr<ssh::ProgramShelf> programs_;
  engine::RealClock clock_{};
  engine::Dispatcher dispatcher_;
  engine::Engine engine_;
  Notifier notifier_;
  std::vector<std::unique_ptr<Driven>> runs_{};
  std::optional<TaskGroup> companions_{};  // of the controller itself; each run has its own
  std::exception_ptr companion_bug_{};     // the first of a run that is over
  std::optional<Error> lost_{};            // why it ends although nobody stopped it
  std::set<engine::RunId> refused_{};      // and that could not be written: not tried again
  std::string published_{};
  bool stopping_ = false;
  bool hung_up_ = false;
};

}  // namespace cupel::controller
