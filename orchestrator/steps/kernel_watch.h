#pragma once
// The log of a node's kernel around a stage and while it runs, by `cupel-node kernel-log`. From
// before the first stage that loads the machine on there is no gap: each reading begins where the
// one before ended, also between stages. Never fails a stage: what was not read is reported as
// that. What it means is for burnin/node/log_readings.h.
#include <chrono>
#include <functional>

#include "orchestrator/ssh/ssh.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {

class KernelWatch {
 public:
  /// How often it reads while a stage runs.
  static constexpr std::chrono::seconds kEvery{300};

  /// `request` must live as long.
  KernelWatch(StepEnvironment& environment, const engine::StepRequest& request,
              std::chrono::seconds every = kEvery)
      : environment_{environment}, request_{request}, every_{every} {}

  /// Asks where the log stands, where nothing in this run has done so and the stage loads the
  /// machine. Only for a stage that is not under way yet.
  Task<void> before();
  /// Now and then while the stage runs: a kernel that says much overwrites what nobody read.
  Task<void> meanwhile(ssh::Session& session);
  /// Puts `kernel_log` (findings) and the new mark into what the stage found. `session` may be
  /// nullptr: then it makes one.
  Task<void> after(engine::StepEnd& end, ssh::Session* session);
  /// What is to be done once the journal has it.
  std::function<void()> when_written() const;

  /// To be called by a step that has just switched the machine on: the log of this boot counts from
  /// its beginning.
  static void begin_with_boot(engine::StepEnd& end);

  /// What a step that restarts the machine leaves: the log begins anew with the next stage, with
  /// the boot where that step began it.
  static void forget(StepEnvironment& environment, const engine::StepRequest& request,
                     engine::StepEnd& end);

 private:
  Task<Result<std::string>> read(ssh::Session& session, std::string mark);
  Task<Result<std::string>> program(ssh::Session& session);
  bool is_watched() const;
  Task<void> tell_restart(burnin::Findings& found);

  StepEnvironment& environment_;
  const engine::StepRequest& request_;
  std::chrono::seconds every_;
  std::string began_at_{};                 // of before()
  std::string mark_{};                     // where the next reading of this stage begins
  std::string readings_{};                 // lines, since the stage began
  std::optional<std::string> new_mark_{};  // of after()
  Deadline::Clock::time_point next_{};     // of meanwhile()
};

}  // namespace cupel::steps
