// requalify: a machine that was repaired proves again what the repair has made void, and no more.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "inventory/subject.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/first_look.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/watch_there.h"
#include "orchestrator/controller/plan_needs.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/requalify/known.h"
#include "orchestrator/requalify/swap.h"

namespace cupel::cli {
namespace {

using requalify::Known;
using requalify::NodeRun;
using requalify::Selection;

/// What is asked, and how it is carried out.
struct RequalifyAsked : requalify::Asked {
  std::string inventory = default_inventory();
  bool plan_only = false, programs_on_nodes = false;
};

/// The plan of it on the node.
OrExit<std::unique_ptr<Planned>> planned_or_exit(const Context& context,
                                                 playbooks::Playbook playbook,
                                                 const inventory::Inventory& site,
                                                 const std::string& node) {
  auto planned = controller::plan_on(std::move(playbook), site, node);
  if (planned) return *std::move(planned);
  return print_error(context, Error{Code::kInvalid, controller::to_string(planned.error())},
                     Exit::invalid);
}

/// What the stages need on this machine, as cupel run asks for it.
std::optional<Error> missing_here(const Context& context, const RequalifyAsked& asked,
                                  const Planned& planned) {
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  const auto missing = controller::missing_programs(planned.plan, shelf);
  if (missing.empty() || asked.programs_on_nodes) return std::nullopt;
  return Error{Code::kInvalid, missing + "; no stage was run"};
}

/// The look: what is in the machine now.
Exit look(Context& context, const inventory::Inventory& site, const RequalifyAsked& asked) {
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::parse_playbook(requalify::look_playbook(), "look", problems);
  if (!playbook) return print_error(context, problems);
  TRY(auto planned, planned_or_exit(context, *std::move(playbook), site, asked.node));
  if (!context.json) say("reading what is in {} now\n", asked.node);
  return execute_new(context, std::move(planned));
}

/// What the run says that has just ended; nothing of one that goes on.
void print_swap(const Context& context, const NodeRun& before, const std::string& node) {
  const auto store = store::Store::open(context.state);
  if (!store) return;
  const auto after = requalify::read_run(**store, context.begun, node);
  if (!after || after->run.phase != engine::RunPhase::ended) return;
  const auto compared = record::compared_of(**store, context.begun, node);
  if (!compared) return;
  for (const auto& each : requalify::read_swap(before.record, after->record, *compared))
    say(context.json ? stderr : stdout, "{}\n", printable(to_string(each)));
}

Exit start(Context& context, const RequalifyAsked& asked, const inventory::Inventory& site,
           const Known& known, Selection selection, Where where) {
  auto renewed = requalify::renewed_by(known, selection);
  TRY(auto planned, planned_or_exit(context, std::move(selection.playbook), site, asked.node));
  if (const auto missing = missing_here(context, asked, *planned))
    return print_error(context, *missing, Exit::invalid);
  // After a swap nothing is kept: every result was measured on the machine that failed.
  if (!asked.after_swap) context.run.requalifies = std::move(renewed);
  look_at_nodes_first(context, *planned);
  const auto exit = execute_new(context, std::move(planned), where);
  const bool has_ended = exit == Exit::passed || exit == Exit::failed;
  if (asked.after_swap && has_ended && where == Where::here)
    print_swap(context, known.base, asked.node);
  return exit;
}

/// All of the playbook: nothing that is known of the former machine speaks for this one.
Exit start_anew(Context& context, const inventory::Inventory& site, const RequalifyAsked& asked,
                const Known& known, Where where) {
  auto playbook = requalify::passed_playbook(known);
  if (!playbook) return print_error(context, playbook.error(), Exit::invalid);
  TRY(auto planned, planned_or_exit(context, *std::move(playbook), site, asked.node));
  if (!context.json) say("{}", requalify::new_machine_text(asked, known));
  if (asked.plan_only) return Exit::passed;
  if (const auto missing = missing_here(context, asked, *planned))
    return print_error(context, *missing, Exit::invalid);
  return execute_new(context, std::move(planned), where);
}

/// From the store alone.
OrExit<Known> known_or_exit(Context& context, const inventory::Inventory& site,
                            const requalify::Asked& asked) {
  const auto store = open_store_for(context, site);
  if (!store) return print_error_of_store(context, store.error());
  auto known = requalify::look_back(**store, asked);
  if (known) return *std::move(known);
  return print_error(context, known.error(),
                     known.error().code == Code::kStorage ? Exit::unfinished : Exit::invalid);
}

/// Exit::passed where there is a run to build on, which is found out before the machine is asked
/// anything.
Exit find_base(Context& context, const inventory::Inventory& site, const requalify::Asked& asked) {
  const auto store = open_store_for(context, site);
  if (!store) return print_error_of_store(context, store.error());
  const auto base = requalify::base_of(**store, asked);
  return base ? Exit::passed : print_error(context, base.error(), Exit::invalid);
}

Exit requalify_node(Context& context, RequalifyAsked asked, Where where) {
  TRY(const auto site, inventory_or_exit(context, asked.inventory));
  const auto* node = site.node(asked.node);
  if (node == nullptr)
    return print_error(
        context,
        Error{Code::kInvalid, fmt::format("{} has no node '{}'", site.file, printable(asked.node))},
        Exit::invalid);
  if (!asked.plan_only) {
    if (const auto exit = find_base(context, site, asked); exit != Exit::passed) return exit;
    const auto looked = look(context, site, asked);
    if (looked == Exit::unfinished || looked == Exit::invalid) return looked;
    asked.looked = context.begun;
  }
  TRY(const auto known, known_or_exit(context, site, asked));
  if (known.is_new_machine) return start_anew(context, site, asked, known, where);
  auto selection = requalify::select_for(known, asked, site, *node);
  if (!selection) return print_error(context, selection.error(), Exit::invalid);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{
                    {"requalify", requalify::plan_json(asked, known, *selection)}}));
  else
    say("{}", requalify::plan_text(asked, known, *selection));
  std::fflush(stdout);
  if (selection->is_empty() && !known.failed.empty()) return Exit::failed;
  if (asked.plan_only || selection->is_empty()) return Exit::passed;
  return start(context, asked, site, known, *std::move(selection), where);
}

/// What is asked, as a service takes it.
boost::json::object body_of(const RequalifyAsked& asked) {
  boost::json::object body;
  if (!asked.replaced.empty())
    body["replaced"] = boost::json::array(asked.replaced.begin(), asked.replaced.end());
  if (asked.after_swap) body["after_swap"] = true;
  if (asked.since != 0) body["since"] = asked.since;
  if (asked.looked != 0) body["looked"] = asked.looked;
  return body;
}

bool has_items(const boost::json::value& plan, std::string_view name) {
  const auto* items = find(plan, name);
  return items != nullptr && items->is_array() && !items->get_array().empty();
}

/// Starts it at the service, shows it to its end, and puts its number into `run`.
Exit carry_out_there(const Context& context, const api::ServiceClient& client,
                     const std::string& path, const boost::json::object& body, Where where,
                     engine::RunId& run) {
  const auto started = client.post(path, body);
  if (!started) return print_error_of_service(context, started.error());
  if (const auto waits = waits_for_approval(*started))
    return print_error(context, *waits, Exit::unfinished);
  run = static_cast<engine::RunId>(number_at(*started, "run").value_or(0));
  if (where == Where::here) return watch_there(context, client, run);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"run", run}}));
  else
    say("run {} was submitted, and the service drives it\n"
        "see it: {}    end it: {}\n",
        run, advised(context, fmt::format("cupel follow {}", run)),
        advised(context, fmt::format("cupel cancel {}", run)));
  return Exit::passed;
}

/// What the swap has shown, by copies of both runs.
void print_swap_there(const Context& context, const api::ServiceClient& client,
                      engine::RunId before, engine::RunId after, const std::string& node) {
  const auto former = RunCopy::make(client, before);
  if (!former) return;
  const auto base = requalify::read_run((*former)->store(), before, node);
  const auto newer = RunCopy::make(client, after);
  if (!base || !newer) return;
  auto there = context;
  there.state = (*newer)->folder();
  there.begun = after;
  print_swap(there, *base, node);
}

/// The same at a service: it looks, plans and starts, and this terminal shows it.
Exit requalify_there(const Context& context, const api::ServiceClient& client, RequalifyAsked asked,
                     Where where) {
  const auto named = inventory::parse_subject(asked.node);
  if (!named || named->name != asked.node)
    return print_error(
        context,
        Error{Code::kInvalid, fmt::format("'{}' is no name of a node", printable(asked.node))},
        Exit::invalid);
  const auto path = fmt::format("/api/v1/nodes/{}/", asked.node);
  if (!asked.plan_only) {
    if (!context.json) say("reading what is in {} now\n", asked.node);
    const auto looked =
        carry_out_there(context, client, path + "look", body_of(asked), Where::here, asked.looked);
    if (looked == Exit::unfinished || looked == Exit::invalid) return looked;
  }
  auto body = body_of(asked);
  if (asked.new_machine) body["new_machine"] = true;
  auto plan = client.post(path + "requalify-plan", body);
  if (plan && !plan->is_object())
    plan = Error{Code::kMalformed, "the service's plan is no JSON object"};
  if (!plan) return print_error_of_service(context, plan.error());
  const auto text = text_at(*plan, "text").value_or("");
  const bool is_new = find(*plan, "new_machine") != nullptr;
  plan->get_object().erase("text");
  if (!context.json)
    say("{}\n", trimmed(text));
  else if (!is_new)
    say("{}\n", boost::json::serialize(boost::json::object{{"requalify", *plan}}));
  std::fflush(stdout);
  const bool is_empty = !is_new && !has_items(*plan, "again") && !has_items(*plan, "open") &&
                        !has_items(*plan, "elsewhere");
  if (is_empty && has_items(*plan, "failed_since")) return Exit::failed;
  if (asked.plan_only || is_empty) return Exit::passed;
  engine::RunId run = 0;
  const auto exit = carry_out_there(context, client, path + "requalify", body, where, run);
  const bool has_ended = exit == Exit::passed || exit == Exit::failed;
  if (asked.after_swap && has_ended && where == Where::here)
    print_swap_there(context, client,
                     static_cast<engine::RunId>(number_at(*plan, "of_run").value_or(0)), run,
                     asked.node);
  return exit;
}

Exit requalify_anywhere(Context& context, const RequalifyAsked& asked, Where where) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return requalify_there(context, **service, asked, where);
  return requalify_node(context, asked, where);
}

}  // namespace

CommandRow requalify_command(Context& context) {
  auto asked = std::make_shared<RequalifyAsked>();
  auto where = std::make_shared<Where>(Where::here);
  CommandRow row{"requalify", "test what a repair has made void, and keep the rest of the proof"};
  row.footer =
      "Examples: cupel requalify a01-n07 --plan\n"
      "          cupel requalify a01-n07 --replaced gpu3\n"
      "          cupel requalify a01-n07 --after-swap";
  row.options = {
      {"NODE", &asked->node, "its name", kRequired},
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--replaced",
       &asked->replaced,
       "a part that was replaced: gpu3, \"dimm A7\", cable:mlx5_5, bmc; repeatable. What reports a "
       "serial number is found without",
       {.repeatable = true}},
      {"--after-swap",
       &asked->after_swap,
       "two parts changed places: measure again what failed, and say whether it went with the "
       "part. Slurm keeps the node drained",
       {.excludes = {"--new-machine"}}},
      {"--since", &asked->since,
       "the run whose evidence is kept [the newest that tested most and was passed]"},
      {"--new-machine", &asked->new_machine, "another chassis has taken the place: run all of it"},
      {"--plan", &asked->plan_only,
       "print what would be run, by what the store has; asks no machine"},
      {"--programs-on-nodes", &asked->programs_on_nodes,
       "as with run: the node's image has cupel-node and cupel-burn"},
      {"--detach", [where] { *where = Where::background; },
       "leave the run to a controller in the background once it is planned"},
      json_flag(context)};
  row.run = [&context, asked, where] {
    if (!context.run.repair_patience) context.run.repair_patience = std::chrono::seconds{0};
    return requalify_anywhere(context, *asked, *where);
  };
  return row;
}

}  // namespace cupel::cli
