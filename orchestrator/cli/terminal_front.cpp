#include "orchestrator/cli/terminal_front.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/text.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {

using controller::Origin;
using controller::RunView;
using controller::Weight;

std::unique_ptr<RunView> TerminalFront::view(const playbooks::Plan& plan, engine::RunId run,
                                             Origin origin) {
  const bool all = shows_ == Shows::all_runs;
  if (origin == Origin::submitted && !all) return nullptr;
  if (!context_.json && (all || in_log_)) return make_log_lines(run);
  return make_progress(plan, run, context_.json);
}

void TerminalFront::announce(Weight weight, const std::string& line) {
  if (context_.json && weight == Weight::information) return;
  say(stderr, "{}\n", printable(line));
}

void TerminalFront::refuse(engine::RunId run, const std::string& why) {
  say(stderr, "cupel: run {} was submitted, and cannot begin: {}\n", run, printable(why));
}

void TerminalFront::outlast(engine::RunId ended, const std::vector<engine::RunId>& others) {
  if (shows_ == Shows::all_runs) return;
  say(stderr,
      "cupel: run {} is over; this process also drives what was submitted meanwhile, and stays "
      "until it is over: run {}. Ctrl-C stops it; go on then with: cupel resume RUN\n",
      ended, fmt::join(others, ", "));
}

bool TerminalFront::hang_up() {
  const bool was_shown = terminals_.output();
  if (terminals_.any()) terminals_.leave(context_.state);
  if (std::exchange(hung_up_, true) || context_.json) return false;
  in_log_ = was_shown;
  say(stderr, "cupel: the terminal is gone; process {} goes on with its runs: cupel status\n",
      ::getpid());
  return was_shown;
}

controller::Settings controller_settings(const Context& context) {
  return {.version = CUPEL_VERSION, .programs = context.programs};
}

}  // namespace cupel::cli
