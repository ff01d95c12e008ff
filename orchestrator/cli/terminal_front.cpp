#include "orchestrator/cli/terminal_front.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/controller/state_folder.h"

namespace cupel::cli {

using controller::Origin;
using controller::RunView;
using controller::Weight;

std::unique_ptr<RunView> TerminalFront::view(const playbooks::Plan& plan, engine::RunId run,
                                             Origin origin) {
  const bool in_log = shows_ == Shows::log;
  if (origin == Origin::submitted && !in_log) return nullptr;
  if (!context_.json && (in_log || in_log_)) return nullptr;
  return make_progress(context_, plan, run);
}

void TerminalFront::announce(Weight weight, const std::string& line) {
  if (shows_ == Shows::log || in_log_) return;
  if (context_.json && weight == Weight::information) return;
  say(stderr, "{}\n", announced(context_, weight, line));
}

void TerminalFront::refuse(engine::RunId run, const std::string& why) {
  if (shows_ == Shows::log || in_log_) return;
  say(stderr, "cupel: run {} was submitted, and cannot begin: {}\n", run,
      printable(advised_in(context_, why)));
}

void TerminalFront::outlast(engine::RunId ended, const std::vector<engine::RunId>& others) {
  if (shows_ == Shows::log || in_log_) return;
  say(stderr,
      "cupel: run {} is over; this process also drives what was submitted meanwhile, and stays "
      "until it is over: run {}. Ctrl-C stops it; go on then with: {}\n",
      ended, fmt::join(others, ", "), advised(context_, "cupel resume RUN"));
}

bool TerminalFront::hang_up() {
  const bool was_shown = terminals_.output();
  if (terminals_.any()) terminals_.leave(context_.state);
  if (std::exchange(hung_up_, true) || context_.json) return false;
  in_log_ = was_shown;
  if (in_log_ && !log::is_on()) {
    // Where it cannot be written, nobody is left to say so to.
    [[maybe_unused]] const auto started = log::to_file(controller::controller_log(context_.state));
  }
  if (shows_ == Shows::log || in_log_) return was_shown;
  say(stderr, "cupel: the terminal is gone; process {} goes on with its runs: {}\n", ::getpid(),
      advised(context_, "cupel status"));
  return was_shown;
}

controller::Settings controller_settings(const Context& context) {
  return {.version = CUPEL_VERSION, .programs = context.programs};
}

Result<void> start_log(const Context& context, std::string_view usual) {
  const auto to = context.log.empty() ? std::string{usual} : context.log;
  if (to == "none") {
    log::off();
    return ok();
  }
  if (to != "stderr") return log::to_file(to);
  log::to_stderr();
  return ok();
}

}  // namespace cupel::cli
