// run, resume and cancel: a run's life.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/store/run_lock.h"

namespace cupel::cli {
namespace {

using engine::RunPhase;

constexpr int kCancelPatienceMs =
    60'000;  // steps clean up on nodes and BMCs, each within its bound

Exit run(Context& context, const PlanOptions& options) {
  Exit exit = Exit::passed;
  const auto planned = planned_or_complain(context, options, exit);
  return planned ? execute_new(context, *planned) : exit;
}

/// The run that is meant: the one that is named, or the newest.
Result<store::Run> meant(const store::Store& store, engine::RunId named) {
  if (named != 0) return store.run(named);
  TRY(const auto runs, store.runs(1));
  if (runs.empty()) return Error{Code::kNotFound, "there is no run in " + store.folder().string()};
  return runs.front();
}

bool over(const store::Run& run) {
  return run.phase == RunPhase::ended || run.phase == RunPhase::cancelled;
}

Exit resume(Context& context, engine::RunId named) {
  auto store = store::Store::open(context.state);
  if (!store) return complain(context, store.assume_error(), Exit::unfinished);
  const auto found = meant(*store.assume_value(), named);
  if (!found) return complain(context, found.assume_error(), Exit::invalid);
  const auto& run = found.assume_value();
  if (over(run))
    return complain(context,
                    Error{Code::kInvalid, fmt::format("run {} is {}: there is nothing to resume",
                                                      run.id, to_string(run.phase))},
                    Exit::invalid);
  if (const auto holder = store::RunLock::holder(context.state, run.id))
    return complain(context,
                    Error{Code::kConflict,
                          fmt::format("run {} is being executed by process {}", run.id, *holder)},
                    Exit::invalid);
  Exit exit = Exit::passed;
  const auto planned = planned_again_or_complain(context, run, exit);
  return planned ? execute_again(context, *planned, run) : exit;
}

/// Tells the controller of the run, and waits until it has ended. False if it did not in time.
bool stop_controller(int pid) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return true;
  ::syscall(SYS_pidfd_send_signal, descriptor, SIGTERM, nullptr, 0);
  pollfd ended{descriptor, POLLIN, 0};
  const bool gone = ::poll(&ended, 1, kCancelPatienceMs) == 1;
  ::close(descriptor);
  return gone;
}

Exit cancel(Context& context, engine::RunId named) {
  auto opened = store::Store::open(context.state);
  if (!opened) return complain(context, opened.assume_error(), Exit::unfinished);
  auto& store = *opened.assume_value();
  const auto found = meant(store, named);
  if (!found) return complain(context, found.assume_error(), Exit::invalid);
  const auto& run = found.assume_value();
  if (over(run))
    return complain(
        context,
        Error{Code::kInvalid, fmt::format("run {} is {} already", run.id, to_string(run.phase))},
        Exit::invalid);
  const auto asked = store.request_cancel(run.id);
  if (!asked) return complain(context, asked.assume_error(), Exit::unfinished);
  if (const auto holder = store::RunLock::holder(context.state, run.id)) {
    if (!stop_controller(*holder))
      return complain(
          context,
          Error{Code::kTimeout, fmt::format("process {} has not ended run {} yet; it will, "
                                            "when its steps have cleaned up",
                                            *holder, run.id)},
          Exit::unfinished);
  } else {
    engine::Event event;
    event.kind = engine::EventKind::run_cancelled;
    const auto written = store.append(run.id, event);
    if (!written) return complain(context, written.assume_error(), Exit::unfinished);
  }
  if (context.json)
    std::printf("%s\n", boost::json::serialize(boost::json::object{{"cancelled", run.id}}).c_str());
  else
    say("run {} is cancelled; its nodes stay drained\n", run.id);
  return Exit::passed;
}

void add_console_flag(CLI::App& command, Context& context) {
  command.add_flag_callback(
      "--no-console", [&context] { context.consoles = false; },
      "do not record the nodes' serial consoles (they are where the inventory allows IPMI)");
}

}  // namespace

void add_run(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("run", "do what a playbook says; survives any interruption");
  command->footer("Example: cupel run new-rack --nodes rack:a01");
  auto options = std::make_shared<PlanOptions>();
  add_plan_options(*command, *options);
  add_json_flag(*command, context);
  add_console_flag(*command, context);
  command->callback([&context, &exit, options] { exit = run(context, *options); });
}

void add_resume(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("resume", "go on with a run that was interrupted");
  command->footer("Example: cupel resume 12");
  auto id = std::make_shared<engine::RunId>(0);
  command->add_option("RUN", *id, "its number; the newest if not said");
  add_json_flag(*command, context);
  add_console_flag(*command, context);
  command->callback([&context, &exit, id] { exit = resume(context, *id); });
}

void add_cancel(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("cancel", "end a run; its nodes stay drained");
  command->footer("Example: cupel cancel 12");
  auto id = std::make_shared<engine::RunId>(0);
  command->add_option("RUN", *id, "its number; the newest if not said");
  add_json_flag(*command, context);
  command->callback([&context, &exit, id] { exit = cancel(context, *id); });
}

}  // namespace cupel::cli
