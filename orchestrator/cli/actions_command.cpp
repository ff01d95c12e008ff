// `cupel actions`: what needs a person, in the order in which one walks past it, with lights.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/text.h"
#include "inventory/load.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/run_copy.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/terminal.h"
#include "orchestrator/controller/connections.h"
#include "orchestrator/controller/run_actions.h"
#include "orchestrator/report/action_groups.h"
#include "orchestrator/report/rehearsal.h"

namespace cupel::cli {
namespace {

using controller::Connections;

constexpr std::size_t kWidth = 16;
constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kLightsLimit = 4u << 20;
constexpr int kSchema = 2;  // 1 had "hands" for "actions"

using Names = std::set<std::string>;

/// The nodes whose lights we have turned on: beside the store, one name a line.
std::filesystem::path lights_file(const Context& context) { return context.state / "lights"; }

Names lit_before(const Context& context) {
  Names names;
  const auto text = read_file(lights_file(context), kLightsLimit);
  if (!text) return names;
  std::istringstream lines{*text};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) names.insert(line);
  return names;
}

Result<void> keep_lit(const Context& context, const Names& names) {
  std::string text;
  for (const auto& name : names) text += name + "\n";
  return write_file(lights_file(context), text);
}

struct Light {
  const inventory::Node* node = nullptr;
  bool on = false;
};

Task<Result<void>> turn(Connections& connections, const Light& light) {
  const auto bmc = connections.bmc(*light.node);
  const auto done = co_await bmc->locator.set(light.on, Deadline::in(kPatience));
  co_await bmc->log_out();
  if (!done) co_return done.error();
  co_return ok();
}

/// On where somebody has to go, off where we lit one and nobody has to any more. A light that fails
/// is reported, and is no reason to show no list.
void turn_lights(const Context& context, Connections& connections,
                 const inventory::Inventory& inventory, const Names& selected) {
  auto lit = lit_before(context);
  std::vector<Light> lights;
  const auto add = [&](const std::string& name, bool on) {
    if (const auto* node = inventory.node(name)) lights.push_back({node, on});
  };
  for (const auto& name : selected) add(name, true);
  for (const auto& name : lit)
    if (!selected.contains(name)) add(name, false);
  const auto verb = [&connections](const Light& light) { return turn(connections, light); };
  auto all = for_each_of<void>(lights, kWidth, verb);
  const auto done = run_to_end(connections.io(), std::move(all));
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto& light = lights[i];
    if (!done[i]) {
      say(stderr, "cupel: {}: its light stays {}: {}\n", light.node->name, light.on ? "off" : "on",
          printable(done[i].error().what));
      continue;
    }
    if (light.on)
      lit.insert(light.node->name);
    else
      lit.erase(light.node->name);
  }
  const auto kept = keep_lit(context, lit);
  if (!kept) say(stderr, "cupel: {}\n", kept.error().what);
}

/// Of every inventory once; a light that is needed for one run is not turned off for another.
void light_the_way(const Context& context, store::Store& store,
                   const std::vector<controller::RunActions>& looked_at) {
  Names selected, inventories;
  for (const auto& each : looked_at)
    for (const auto& item : each.actions)
      if (item.at_the_rack && !item.node.empty()) selected.insert(item.node);
  for (const auto& each : looked_at) {
    if (!each.planned || !inventories.insert(each.summary.run.inventory_file).second) continue;
    Connections connections{each.planned->inventory, store};
    turn_lights(context, connections, each.planned->inventory, selected);
  }
}

/// What machines have in common comes before what is to be done on each of them.
void say_actions(const std::vector<controller::RunActions>& looked_at,
                 const std::vector<report::OperatorAction>& actions, bool all) {
  for (const auto& each : looked_at) {
    if (each.actions.empty()) continue;
    for (const auto& group : report::failures_of(each.summary))
      for (const auto& cluster : group.clusters)
        say("run {}: {}\n", each.summary.run.id, printable(to_text(group, cluster)));
  }
  std::fputs(report::to_text(actions, {.width = terminal_width(), .all = all}).c_str(), stdout);
}

/// Why there is no plan of a run.
Exit print_error_of_plan(const Context& context, const controller::NoPlan& failure) {
  if (const auto* error = std::get_if<Error>(&failure))
    return print_error(context, *error, Exit::invalid);
  return print_error(context, std::get<std::vector<inventory::Problem>>(failure));
}

struct ActionsOptions {
  engine::RunId run = 0;
  bool locate = false;
  bool all = false;
};

void say_json(const std::vector<report::OperatorAction>& actions, bool rehearsal) {
  boost::json::object object{{"schema", kSchema}, {"actions", report::to_json(actions)}};
  if (rehearsal) object["rehearsal"] = true;
  std::printf("%s\n", boost::json::serialize(object).c_str());
}

/// What the service answers, as the commands of its machine print it.
Exit actions_there(const Context& context, const api::ServiceClient& client,
                   const ActionsOptions& options) {
  if (options.locate)
    return print_error(
        context,
        Error{Code::kInvalid,
              "--locate asks BMCs, which only the service's machine reaches: press the "
              "light's button on the page of the service, or name its state folder "
              "there: sudo cupel --state /var/lib/cupel actions --locate"},
        Exit::invalid);
  const auto answer = client.get(
      options.run == 0 ? "/api/v1/actions" : fmt::format("/api/v1/actions?run={}", options.run));
  if (!answer) return print_error_of_service(context, answer.error());
  const auto status = client.get("/api/v1/status");
  if (!status) return print_error_of_service(context, status.error());
  const bool rehearsal = flag_at(*status, "rehearsal") == true;
  const auto* items = find(*answer, "actions");
  const auto all =
      items == nullptr ? std::vector<report::OperatorAction>{} : report::actions_from(*items);
  if (context.json) {
    say_json(all, rehearsal);
  } else if (say("{}", rehearsal ? fmt::format("{}\n", report::kRehearsal) : ""); all.empty()) {
    say("{}nothing to do\n", options.run == 0 ? "" : fmt::format("run {}: ", options.run));
  } else {
    say_actions({}, all, options.all);
  }
  return all.empty() ? Exit::passed : Exit::failed;
}

Exit actions(Context& context, const ActionsOptions& options) {
  const auto service = service_to_ask(context);
  if (!service) return print_error(context, service.error(), Exit::invalid);
  if (*service) return actions_there(context, **service, options);
  auto opened = store::Store::open(context.state);
  if (!opened) return print_error(context, opened.error(), Exit::unfinished);
  auto& store = **opened;
  Exit exit = Exit::passed;
  const auto first = meant_run(store, options.run);
  if (!first) return print_error(context, first.error(), Exit::invalid);
  const auto looked_at = controller::run_actions(store, options.run, options.locate);
  if (!looked_at) return print_error(context, looked_at.error(), Exit::invalid);
  for (const auto& each : *looked_at)
    if (each.no_plan) exit = print_error_of_plan(context, *each.no_plan);
  if (options.locate && exit != Exit::passed) return exit;
  const auto all = controller::walking_list(*looked_at);
  if (options.locate) light_the_way(context, store, *looked_at);
  if (context.json) {
    say_json(all, !rehearsal_line(context.state).empty());
  } else if (say("{}", rehearsal_line(context.state)); all.empty()) {
    say("{}nothing to do\n", options.run == 0 ? "" : fmt::format("run {}: ", options.run));
  } else {
    say_actions(*looked_at, all, options.all);
  }
  return all.empty() ? Exit::passed : Exit::failed;
}

}  // namespace

CommandRow actions_command(Context& context) {
  auto options = std::make_shared<ActionsOptions>();
  CommandRow row{"actions", "what an operator has to do: where to go, what to do there"};
  row.footer =
      "Examples: cupel actions\n"
      "          cupel actions 12 --locate\n"
      "          cupel actions --all\n"
      "Exit codes: 0 nothing to do, 1 something to do.";
  row.options = {
      {"RUN", &options->run,
       "its number [every run that is not over, and of each node the newest run that worked on "
       "it]"},
      {"--locate", &options->locate,
       "turn on the identify LEDs of these machines, and turn off those of machines that are done"},
      {"--all", &options->all,
       "one row for each node and part, all of them [equal actions share a row; 20 rows are "
       "shown]"},
      json_flag(context)};
  row.run = [&context, options] { return actions(context, *options); };
  return row;
}

}  // namespace cupel::cli
