#pragma once
// What a controller shows, on this process's terminal or in what its output was redirected to, and
// where its log goes.
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/controller_log.h"
#include "orchestrator/controller/controller.h"

namespace cupel::cli {

class TerminalFront final : public controller::Front {
 public:
  /// `log`: of `cupel controller`, whose log has what there is to read; JSON is shown of all runs.
  enum class Shows { own_runs, log };
  /// `context` must outlive it.
  explicit TerminalFront(const Context& context, Shows shows = Shows::own_runs)
      : context_{context}, shows_{shows} {}

  std::unique_ptr<controller::RunView> view(const playbooks::Plan& plan, engine::RunId run,
                                            controller::Origin origin) override;
  void announce(controller::Weight weight, const std::string& line) override;
  void refuse(engine::RunId run, const std::string& why) override;
  void outlast(engine::RunId ended, const std::vector<engine::RunId>& others) override;
  /// What would have been shown on the terminal is read in controller.log from now on.
  bool hang_up() override;

 private:
  const Context& context_;
  Shows shows_;
  Terminals terminals_{};
  bool hung_up_ = false;
  bool in_log_ = false;
};

controller::Settings controller_settings(const Context& context);

/// As `--log` says; else as `usual` does. Errors: kStorage.
Result<void> start_log(const Context& context, std::string_view usual);

}  // namespace cupel::cli
