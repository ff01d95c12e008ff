#pragma once
// A stage on a node, followed from here over as many connections as it takes: brought there,
// started, read from where the last word ended. What its output means is for burnin/.
#include "burnin/job.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

/// What came back of a stage.
struct Spool {
  burnin::Output output{};
  bool lost = false;
  bool stopped = false;
};

enum class WhenOff { wait, give_up };

/// A session, as soon as the node answers. `give_up`: where there is something to lose by waiting
/// for a node that its BMC says is off, or whose system has stopped by the BMC's log. Errors: as
/// ssh::connect at the last try; kFailed: it is off, or has stopped.
Task<Result<std::unique_ptr<ssh::Session>>> connected(StepEnvironment& environment,
                                                      const engine::StepRequest& request,
                                                      Deadline until,
                                                      WhenOff when_off = WhenOff::wait);

/// Reads until the job has ended, over as many connections as it takes.
class Follower {
 public:
  /// `request` need only live until follow() has ended.
  Follower(StepEnvironment& environment, const engine::StepRequest& request, ssh::JobHandle handle)
      : environment_{environment},
        request_{request},
        handle_{std::move(handle)},
        last_word_{with_last_word(request.deadline)} {}

  Task<Result<Spool>> follow();

  /// Follows over what another one was connected by, as long as that lives. nullptr: does nothing.
  void go_on_over(std::unique_ptr<ssh::Session> session) { session_ = std::move(session); }
  std::unique_ptr<ssh::Session> take_session() { return std::move(session_); }

  /// Called with each piece of standard output as it comes.
  std::function<void(std::string_view)> on_output{};
  /// Asked after each piece: what the job is to receive by now; empty: nothing.
  std::function<std::string()> word{};

  /// Done between two readings while the job runs.
  std::function<Task<void>(ssh::Session&)> meanwhile{};
  /// The connection that it was followed over last; nullptr: there was none.
  ssh::Session* session() const { return session_.get(); }

  /// Of an ended job.
  Task<void> clean_up();

 private:
  Task<Result<void>> start(Deadline start_by);
  Task<Result<void>> start_and_read(Deadline start_by);
  Task<Result<void>> tell();
  void tell_silence(std::optional<std::chrono::duration<double>> silent_for);
  Result<std::chrono::seconds> patience_with_silence() const;
  Task<Result<ssh::Brought>> bring_programs();

  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  ssh::JobHandle handle_;
  std::unique_ptr<ssh::Session> session_{};
  Spool spool_{};
  std::string reported_{};
  Deadline last_word_;
  std::string silence_{};  // what is reported of it; empty: it lives
};

}  // namespace cupel::steps
