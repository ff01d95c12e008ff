// controller and follow: a controller without a run of its own, and a look at a run of another one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/headless.h"
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
  if (!opened) return complain(context, opened.error(), Exit::unfinished);
  const auto lock = store::ControllerLock::take(context.state);
  if (!lock) {
    const bool taken = lock.error().code == Code::kConflict;
    return complain(context, lock.error(), taken ? Exit::invalid : Exit::unfinished);
  }
  const auto logs = start_log(context, "stderr");
  if (!logs) return complain(context, logs.error(), Exit::invalid);
  if (!context.json)
    say("process {} is the controller of {}\n", ::getpid(), context.state.string());
  std::fflush(stdout);
  TerminalFront front{context, TerminalFront::Shows::log};
  auto settings = controller_settings(context);
  settings.stays = stays;
  controller::Controller drives{front, **opened, std::move(settings)};
  const auto ran = drives.work();
  if (ran) return Exit::passed;
  return complain(context, ran.error(), Exit::unfinished);
}

Exit follow_there(Context& context, const api::ServiceClient& client, engine::RunId named) {
  const auto run = named != 0 ? Result<engine::RunId>{named} : newest_run(client);
  if (!run) return complain_of_service(context, run.error());
  return watch_there(context, client, *run);
}

Exit follow_run(Context& context, engine::RunId named) {
  const auto service = service_of_environment();
  if (!service) return complain(context, service.error(), Exit::invalid);
  if (*service) return follow_there(context, **service, named);
  auto opened = store::Store::open(context.state);
  if (!opened) return complain(context, opened.error(), Exit::unfinished);
  const auto run = meant_run(**opened, named);
  if (!run) return complain(context, run.error(), Exit::invalid);
  Exit exit = Exit::passed;
  auto planned = planned_again_or_complain(context, *run, exit);
  return planned ? execute_elsewhere(context, **opened, *planned, *run) : exit;
}

}  // namespace

void add_controller(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand(
      "controller", "drive the runs that are submitted to this state folder, until all are over");
  command->footer(
      "Example: cupel controller --stay    as a service of systemd: see docs/operating.md\n"
      "`cupel run PLAYBOOK --detach` starts one in the background if none runs.");
  auto stays = std::make_shared<bool>(false);
  command->add_flag("--stay", *stays, "stay when all runs are over, until SIGTERM or Ctrl-C");
  add_json_flag(*command, context);
  command->callback([&context, &exit, stays] { exit = control_submitted(context, *stays); });
}

void add_follow(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("follow", "show the run of another process, until it is over");
  command->footer(
      "Example: cupel follow 12\n"
      "Ctrl-C leaves the run going. Exit codes as those of cupel run.");
  auto id = std::make_shared<engine::RunId>(0);
  command->add_option("RUN", *id, "its number [the newest]");
  add_json_flag(*command, context);
  command->callback([&context, &exit, id] { exit = follow_run(context, *id); });
}

}  // namespace cupel::cli
