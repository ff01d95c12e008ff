// run and resume: how a run begins, and goes on.
#include <fmt/format.h>

#include "inventory/yaml.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/store/run_lock.h"

namespace cupel::cli {
namespace {

using engine::RunPhase;

Exit run(Context& context, const PlanOptions& options) {
  Exit exit = Exit::passed;
  auto planned = planned_or_complain(context, options, exit);
  return planned ? execute_new(context, std::move(planned)) : exit;
}

bool over(const store::Run& run) {
  return run.phase == RunPhase::ended || run.phase == RunPhase::cancelled;
}

Exit resume(Context& context, engine::RunId named) {
  auto store = store::Store::open(context.state);
  if (!store) return complain(context, store.assume_error(), Exit::unfinished);
  const auto found = meant_run(*store.assume_value(), named);
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
  auto planned = planned_again_or_complain(context, run, exit);
  return planned ? execute_again(context, std::move(planned), run) : exit;
}

void add_beside_flags(CLI::App& command, Context& context) {
  command.add_flag_callback(
      "--no-console", [&context] { context.consoles = false; },
      "do not record the nodes' serial consoles (they are where the inventory allows IPMI)");
  command.add_option("--notify", context.notify,
                     "program to tell what is overdue, halted, needs hands or has ended: one JSON "
                     "object on its standard input; no shell");
  command
      .add_option_function<std::string>(
          "--look-again",
          [&context](const std::string& text) {
            context.look_again = *inventory::duration_of(text);
          },
          "how often what needs hands is looked at [1m]")
      ->check([](const std::string& text) {
        const auto span = inventory::duration_of(text);
        return span && span->count() > 0 ? std::string{} : "not a time, such as 90s: " + text;
      });
}

}  // namespace

void add_run(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("run", "do what a playbook says; survives any interruption");
  command->footer("Example: cupel run new-rack --nodes rack:a01");
  auto options = std::make_shared<PlanOptions>();
  add_plan_options(*command, *options);
  add_json_flag(*command, context);
  add_beside_flags(*command, context);
  command->callback([&context, &exit, options] { exit = run(context, *options); });
}

void add_resume(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("resume", "go on with a run that was interrupted");
  command->footer("Example: cupel resume 12");
  auto id = std::make_shared<engine::RunId>(0);
  command->add_option("RUN", *id, "its number; the newest if not said");
  add_json_flag(*command, context);
  add_beside_flags(*command, context);
  command->callback([&context, &exit, id] { exit = resume(context, *id); });
}

}  // namespace cupel::cli
