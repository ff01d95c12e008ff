#pragma once
// The one process of a state folder that drives runs: its own, and those that others submit while
// it lives. Takes what people ask for, once a second; tells how it stands in a file beside the
// store, for `cupel status`. What is done next is the engine's to say.
#include <memory>
#include <set>

#include "orchestrator/cli/companions.h"
#include "orchestrator/cli/notify.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/world.h"
#include "orchestrator/engine/engine.h"

namespace cupel::cli {

class Controller {
 public:
  /// Both must outlive it; the folder's ControllerLock is the caller's.
  Controller(Context& context, store::Store& store);
  ~Controller();

  /// A run of this process's own, before work(). Errors: kStorage, kInvalid (a secret is missing).
  Result<void> add(std::unique_ptr<Planned> planned, const store::Run& run);

  /// Until every run has ended: own ones and those that were taken up meanwhile. SIGINT and SIGTERM
  /// stop all of them. Errors: as Engine::run.
  Result<void> work();

  const engine::RunState& state(engine::RunId run) const { return engine_.state(run); }
  engine::Stop why_stopped(engine::RunId run) const { return engine_.why_stopped(run); }

 private:
  struct Driven;

  Result<std::unique_ptr<Driven>> make(std::unique_ptr<Planned> planned, const store::Run& run);
  void drive(std::unique_ptr<Driven> driven);
  Task<Result<void>> work_all();
  Task<Result<void>> listen();
  Task<Result<void>> attend();
  Task<Result<void>> take_commands(Driven& driven);
  void take_up_submitted();
  void take_up(const store::Run& run);
  void refuse(const store::Run& run, const std::string& why);
  void publish();
  void show(Driven& driven);
  std::optional<engine::WallTime> hands_until(engine::RunId run) const;
  void start_companions(Driven& driven);

  Context& context_;
  store::Store& store_;
  Network network_;
  std::shared_ptr<ssh::ProgramShelf> programs_;
  engine::RealClock clock_{};
  engine::Dispatcher dispatcher_;
  engine::Engine engine_;
  Notifier notifier_;
  std::vector<std::unique_ptr<Driven>> runs_{};
  std::optional<Companions> companions_{};
  std::set<engine::RunId> refused_{};  // and that could not be written: not tried again
  std::string published_{};
};

}  // namespace cupel::cli
