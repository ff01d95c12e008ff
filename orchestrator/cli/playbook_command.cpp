// playbook check, schema and list: recipes, before anybody runs them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "playbooks/schema.h"

namespace cupel::cli {
namespace {

using inventory::Problem;
using playbooks::Playbook;

struct CheckOptions {
  std::vector<std::string> files{};
  std::string inventory{};  // empty: the playbook alone
  std::vector<std::string> settings{};
};

boost::json::object to_json(const Playbook& playbook) {
  boost::json::array parameters;
  for (const auto& each : playbook.parameters) {
    boost::json::object one{{"name", each.name},
                            {"type", each.type},
                            {"value", each.value},
                            {"description", each.description}};
    if (each.fallback) one["default"] = *each.fallback;
    parameters.push_back(std::move(one));
  }
  return {{"playbook", playbook.name},
          {"file", playbook.file},
          {"description", playbook.description},
          {"steps", playbook.steps.size()},
          {"parameters", parameters}};
}

/// With all nodes of the inventory, as `cupel run` would.
void check_plan(const Playbook& playbook, const inventory::Inventory& inventory,
                std::vector<Problem>& problems) {
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : inventory.nodes) nodes.push_back(&node);
  [[maybe_unused]] const auto plan = playbooks::make_plan(playbook, inventory, nodes, problems);
}

Exit check(const Context& context, const CheckOptions& options) {
  Exit exit = Exit::passed;
  std::optional<inventory::Inventory> inventory;
  if (!options.inventory.empty()) {
    inventory = inventory_or_complain(context, options.inventory, exit);
    if (!inventory) return exit;
  }
  const auto arguments = arguments_of(options.settings);
  if (!arguments) return complain(context, arguments.error(), Exit::invalid);
  std::vector<Problem> problems;
  boost::json::array good;
  std::string told;
  for (const auto& file : options.files) {
    const auto playbook = playbooks::load_playbook(file, problems, *arguments);
    if (!playbook) continue;
    if (inventory) check_plan(*playbook, *inventory, problems);
    good.push_back(to_json(*playbook));
    told += fmt::format("{}: playbook {}, {} steps, no error\n", file, printable(playbook->name),
                        playbook->steps.size());
  }
  if (!problems.empty()) return complain(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(
                    boost::json::object{{"playbooks", good}, {"problems", boost::json::array{}}}));
  else
    say("{}", told);
  return exit;
}

Exit list(const Context& context) {
  std::vector<Problem> problems;
  std::vector<Row> rows{{"playbook", "steps", "set", "does"}};
  boost::json::array all;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("playbooks/")) continue;
    const auto playbook = playbooks::load_playbook(std::string{file.path}, problems);
    if (!playbook) continue;
    std::string parameters;
    for (const auto& each : playbook->parameters)
      parameters += fmt::format("{}{}={}", parameters.empty() ? "" : " ", each.name, each.value);
    rows.push_back({playbook->name, std::to_string(playbook->steps.size()), parameters,
                    playbook->description});
    all.push_back(to_json(*playbook));
  }
  if (!problems.empty()) return complain(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"playbooks", all}}));
  else
    say("{}", table(rows));
  return Exit::passed;
}

void add_playbook_check(CLI::App& group, Context& context, Exit& exit) {
  auto* command = group.add_subcommand("check", "list all errors in playbooks; touches nothing");
  command->footer(
      "Examples: cupel playbook check mine.yaml\n"
      "          cupel playbook check *.yaml --inventory site.yaml");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->files, "files, or shipped ones by their names")->required();
  command->add_option("-i,--inventory", options->inventory, "also plan them for its nodes");
  add_set_option(*command, options->settings);
  add_json_flag(*command, context);
  command->callback([&context, &exit, options] { exit = check(context, *options); });
}

void add_schema(CLI::App& group, Exit& exit) {
  auto* command = group.add_subcommand("schema", "the format as JSON Schema, for editors");
  command->footer(
      "Example: cupel playbook schema > playbook.schema.json, and as a playbook's first line:\n"
      "         # yaml-language-server: $schema=playbook.schema.json");
  command->callback([&exit] {
    say("{}\n", boost::json::serialize(playbooks::playbook_schema()));
    exit = Exit::passed;
  });
}

void add_list(CLI::App& group, Context& context, Exit& exit) {
  auto* command = group.add_subcommand("list", "the playbooks that are part of cupel");
  command->footer("Example: cupel playbook list");
  add_json_flag(*command, context);
  command->callback([&context, &exit] { exit = list(context); });
}

}  // namespace

void add_playbook(CLI::App& app, Context& context, Exit& exit) {
  auto* group =
      app.add_subcommand("playbook", "check and list playbooks, and their format as JSON Schema");
  group->require_subcommand(1);
  add_playbook_check(*group, context, exit);
  add_schema(*group, exit);
  add_list(*group, context, exit);
}

}  // namespace cupel::cli
