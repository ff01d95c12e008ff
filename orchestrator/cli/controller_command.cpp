// controller and follow: a controller without a run of its own, and a look at a run of another one.
#include <fmt/format.h>
#include <unistd.h>

#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/terminal_front.h"
#include "orchestrator/cli/watch_there.h"
#include "orchestrator/controller/controller.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::cli {
namespace {

Exit control_submitted(Context& context, bool stays) {
  auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  const auto lock = store::ControllerLock::take(context.state);
  if (!lock) {
    const bool taken = lock.error().code == Code::kConflict;
    return print_error(context, lock.error(), taken ? Exit::invalid : Exit::unfinished);
  }
  const auto logs = start_log(context, "stderr");
  if (!logs) return print_error(context, logs.error(), Exit::invalid);
  TerminalFront front{context, TerminalFront::Shows::log};
  auto settings = controller_settings(context);
  settings.stays = stays;
  controller::Controller drives{front, **opened, std::move(settings)};
  // It hears signals from here on: whoever reads the line may send one at once.
  if (!context.json)
    say("process {} is the controller of {}\n", ::getpid(), context.state.string());
  std::fflush(stdout);
  const auto ran = drives.work();
  if (ran) return Exit::passed;
  return print_error(context, ran.error(), Exit::unfinished);
}

Exit follow_there(Context& context, const api::ServiceClient& client, engine::RunId named) {
  const auto run = named != 0 ? Result<engine::RunId>{named} : newest_run(client);
  if (!run) return print_error_of_service(context, run.error());
  return watch_there(context, client, *run);
}

Exit follow_run(Context& context, engine::RunId named) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return follow_there(context, **service, named);
  auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  const auto run = meant_run(**opened, named);
  if (!run) return print_error(context, run.error(), Exit::invalid);
  TRY(const auto planned, planned_again_or_exit(context, *run));
  return execute_elsewhere(context, **opened, *planned, *run);
}

}  // namespace

CommandRow controller_command(Context& context) {
  auto stays = std::make_shared<bool>(false);
  CommandRow row{"controller",
                 "drive the runs that are submitted to this state folder, until all are over"};
  row.footer =
      "Example: cupel controller --stay    as a service of systemd: see docs/do/operating.md\n"
      "`cupel run PLAYBOOK --detach` starts one in the background if none runs.";
  row.options = {{"--stay", stays.get(), "stay when all runs are over, until SIGTERM or Ctrl-C"},
                 json_flag(context)};
  row.run = [&context, stays] { return control_submitted(context, *stays); };
  return row;
}

CommandRow follow_command(Context& context) {
  auto id = std::make_shared<engine::RunId>(0);
  CommandRow row{"follow", "show the run of another process, until it is over"};
  row.footer =
      "Example: cupel follow 12\n"
      "Ctrl-C leaves the run going. Exit codes as those of cupel run.";
  row.options = {
      {"RUN", id.get(), "its number [the newest]"},
      on_halt_option(context,
                     "wait: until the run is over; end: also where only an operator can carry it "
                     "on: it is halted (exit code 4), or each node is through and some wait for "
                     "repair [wait in a terminal, else end]"),
      json_flag(context)};
  row.run = [&context, id] { return follow_run(context, *id); };
  return row;
}

}  // namespace cupel::cli
