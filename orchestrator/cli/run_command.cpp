// run and resume: how a run begins, and goes on.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/paths.h"
#include "base/text.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/first_look.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/watch_there.h"
#include "orchestrator/controller/plan_needs.h"

namespace cupel::cli {
namespace {

using engine::RunPhase;

Error only_here(std::string_view what) {
  return {
      Code::kInvalid,
      fmt::format("a service takes no {}: name a state folder of this machine with --state", what)};
}

/// A service has the site's files, and reads none of those who ask it. Errors: kInvalid.
Result<void> check_for_service(const Context& context, const PlanOptions& options, bool on_nodes) {
  const auto& flags = context.run;
  if (flags.notify || flags.look_again || flags.measure_power)
    return only_here("--notify, --recheck-interval and --measure-power");
  if (on_nodes) return only_here("--programs-on-nodes");
  if (options.inventory_named) return only_here("--inventory, since it has its own");
  const bool is_file = options.playbook.contains('/') || options.playbook.ends_with(".yaml");
  if (is_file)
    return Error{Code::kInvalid,
                 fmt::format("a service runs playbooks by their names, and no file ({}): put it "
                             "into the folder of playbooks: in service.yaml, or name a state "
                             "folder of this machine with --state",
                             printable(options.playbook))};
  return ok();
}

/// What is started at the service, as its API takes it. Errors: kInvalid: what it does not take.
Result<boost::json::object> start_body(const Context& context, const PlanOptions& options) {
  const auto& flags = context.run;
  TRY(const auto arguments, arguments_of(options.settings));
  boost::json::object settings;
  for (const auto& [name, value] : arguments) settings[name] = value;
  boost::json::object body{{"playbook", options.playbook}, {"nodes", options.nodes}};
  if (!settings.empty()) body["set"] = std::move(settings);
  if (flags.consoles) body["consoles"] = *flags.consoles;
  if (flags.repair_patience) body["wait_for_repair_s"] = flags.repair_patience->count();
  return body;
}

/// What was submitted to a service, until it ends, or alone if that is asked for.
Exit follow_there(const Context& context, const api::ServiceClient& client, engine::RunId run,
                  Where where) {
  const bool leaves = where == Where::background;
  if (context.json && leaves)
    say("{}\n", boost::json::serialize(boost::json::object{{"run", run}}));
  else if (!context.json && leaves)
    say("run {} was submitted, and the service drives it\n"
        "see it: {}    end it: {}\n",
        run, advised(context, fmt::format("cupel follow {}", run)),
        advised(context, fmt::format("cupel cancel {}", run)));
  else if (!context.json)
    say("run {} was submitted: the service drives it, and this terminal shows it. Ctrl-C here "
        "leaves it going\n",
        run);
  return leaves ? Exit::passed : watch_there(context, client, run);
}

/// Begins it there, and shows it to its end.
Exit run_there(Context& context, const api::ServiceClient& client, const PlanOptions& options,
               bool on_nodes, Where where) {
  const auto fits = check_for_service(context, options, on_nodes);
  if (!fits) return print_error(context, fits.error(), Exit::invalid);
  const auto body = start_body(context, options);
  if (!body) return print_error(context, body.error(), Exit::invalid);
  const auto started = client.post("/api/v1/runs", *body);
  if (!started) return print_error_of_service(context, started.error());
  if (const auto waits = waits_for_approval(*started))
    return print_error(context, *waits, Exit::unfinished);
  const auto run = static_cast<engine::RunId>(number_at(*started, "run").value_or(0));
  return follow_there(context, client, run, where);
}

/// `on_nodes`: their images have our programs.
Exit run(Context& context, const PlanOptions& options, bool on_nodes, Where where) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return run_there(context, **service, options, on_nodes, where);
  TRY(auto planned, planned_or_exit(context, options));
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  const auto missing = controller::missing_programs(planned->plan, shelf);
  if (!missing.empty() && !on_nodes)
    return print_error(context, Error{Code::kInvalid, missing + "; nothing was touched"},
                       Exit::invalid);
  look_at_nodes_first(context, *planned);
  return execute_new(context, std::move(planned), where);
}

bool over(const store::Run& run) {
  return run.phase == RunPhase::ended || run.phase == RunPhase::cancelled;
}

Exit resume_there(Context& context, const api::ServiceClient& client, engine::RunId named,
                  Where where) {
  const auto& flags = context.run;
  if (flags.notify || flags.look_again || flags.measure_power || flags.repair_patience ||
      flags.consoles)
    return print_error(context,
                       only_here("options of a run that it resumes: it goes on as it was begun"),
                       Exit::invalid);
  const auto run = named != 0 ? Result<engine::RunId>{named} : newest_run(client);
  if (!run) return print_error_of_service(context, run.error());
  const auto given = client.post(fmt::format("/api/v1/runs/{}/resume", *run), {});
  if (!given) return print_error_of_service(context, given.error());
  if (const auto waits = waits_for_approval(*given))
    return print_error(context, *waits, Exit::unfinished);
  return follow_there(context, client, *run, where);
}

Exit resume(Context& context, engine::RunId named, Where where) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return resume_there(context, **service, named, where);
  auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto found = meant_run(**store, named);
  if (!found) return print_error(context, found.error(), Exit::invalid);
  const auto& run = *found;
  if (over(run))
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("run {} is {}: there is nothing to resume",
                                                         run.id, to_string(run.phase))},
                       Exit::invalid);
  TRY(auto planned, planned_again_or_exit(context, run));
  return execute_again(context, std::move(planned), run, where);
}

/// A name is looked for in PATH by whoever drives the run; a path must not depend on where it was
/// reported.
std::string program_of(const std::string& reported) {
  return reported.find('/') == reported.npos ? reported : absolute_path(reported).string();
}

/// "" or what is wrong with it.
std::string not_a_time(const std::string& text, bool may_be_zero) {
  const auto span = inventory::duration_of(text);
  const bool fits =
      span && (may_be_zero || span->count() > 0) && *span <= controller::kLongestRepairPatience;
  return fits ? std::string{} : "not a time of at most 7 days, such as 90s: " + text;
}

/// A program, which is kept with the run as JSON. "" or what is wrong with it.
std::string not_a_program(const std::string& path) {
  if (valid_utf8(path) != path) return "a path that is no valid UTF-8";
  std::error_code none;
  const bool found = path.find('/') == path.npos || (std::filesystem::is_regular_file(path, none) &&
                                                     ::access(path.c_str(), X_OK) == 0);
  return found ? std::string{} : "there is no program " + path + " that may be executed";
}

OptionRow time_option(std::string_view name, std::optional<std::chrono::seconds>& span,
                      bool may_be_zero, std::string_view help) {
  return {
      name,
      [&span](const std::string& text) { span = *inventory::duration_of(text); },
      help,
      {.check = [may_be_zero](const std::string& text) { return not_a_time(text, may_be_zero); }}};
}

std::vector<OptionRow> beside_flags(controller::RunFlags& flags) {
  return {
      {"--no-console", [&flags] { flags.consoles = false; },
       "do not record the nodes' serial consoles (they are where the inventory allows IPMI)"},
      {"--notify",
       [&flags](const std::string& reported) { flags.notify = program_of(reported); },
       "program to call when a step is overdue, a run halts or ends, or a node needs an operator; "
       "it reads one JSON object from standard input; no shell",
       {.check = not_a_program}},
      time_option("--recheck-interval", flags.look_again, false,
                  "how often a node that waits for repair is checked [1m]"),
      time_option("--measure-power", flags.measure_power, false,
                  "how often the power draw of loaded nodes is read from their BMCs [1m]"),
      time_option("--wait-for-repair", flags.repair_patience, true,
                  "how long a finished run stays open for nodes that wait for repair, and "
                  "continues them once they are repaired; 0s: not at all [15m]"),
  };
}

OptionRow detach_flag(std::shared_ptr<Where> where) {
  return {"--detach", [where = std::move(where)] { *where = Where::background; },
          "leave the run to a controller in the background, and return as soon as it has begun; "
          "see it with cupel follow"};
}

}  // namespace

CommandRow run_command(Context& context) {
  auto options = std::make_shared<PlanOptions>();
  auto on_nodes = std::make_shared<bool>(false);
  auto where = std::make_shared<Where>(Where::here);
  CommandRow row{"run", "execute a playbook; an interrupted run can be resumed"};
  row.footer = "Example: cupel run new-rack --nodes rack:a01";
  row.options = joined<OptionRow>(
      {plan_options(*options),
       {json_flag(context)},
       beside_flags(context.run),
       {on_halt_option(context)},
       {{"--programs-on-nodes", on_nodes.get(),
         "start without cupel-node or cupel-burn on this machine: the nodes' images have them"},
        detach_flag(where)}});
  row.run = [&context, options, on_nodes, where] {
    if (!context.run.repair_patience)
      context.run.repair_patience = controller::kUsualRepairPatience;
    return run(context, *options, *on_nodes, *where);
  };
  return row;
}

CommandRow resume_command(Context& context) {
  auto id = std::make_shared<engine::RunId>(0);
  auto where = std::make_shared<Where>(Where::here);
  CommandRow row{"resume", "resume an interrupted run"};
  row.footer = "Example: cupel resume 12";
  row.options =
      joined<OptionRow>({{{"RUN", id.get(), "its number [the newest]"}, json_flag(context)},
                         beside_flags(context.run),
                         {on_halt_option(context), detach_flag(where)}});
  row.run = [&context, id, where] { return resume(context, *id, *where); };
  return row;
}

}  // namespace cupel::cli
