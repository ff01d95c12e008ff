// playbook check, schema, list and show: recipes, before anybody runs them.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/shipped.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "playbooks/schema.h"
#include "playbooks/texts.h"

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
  std::optional<inventory::Inventory> inventory;
  if (!options.inventory.empty()) {
    TRY(inventory, inventory_or_exit(context, options.inventory));
  }
  const auto arguments = arguments_of(options.settings);
  if (!arguments) return print_error(context, arguments.error(), Exit::invalid);
  std::vector<Problem> problems;
  boost::json::array good;
  std::string reported;
  for (const auto& file : options.files) {
    const auto playbook = playbooks::load_playbook(file, problems, *arguments);
    if (!playbook) continue;
    if (inventory) check_plan(*playbook, *inventory, problems);
    good.push_back(to_json(*playbook));
    reported += fmt::format("{}: playbook {}, {} steps, no error\n", file,
                            printable(playbook->name), playbook->steps.size());
  }
  if (!problems.empty()) return print_error(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(
                    boost::json::object{{"playbooks", good}, {"problems", boost::json::array{}}}));
  else
    say("{}", reported);
  return Exit::passed;
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
  if (!problems.empty()) return print_error(context, problems);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"playbooks", all}}));
  else
    say("{}\n", table(rows));
  return Exit::passed;
}

/// As it was written, so that it can be changed.
Exit show_playbook(const Context& context, const std::string& name) {
  const auto text = playbooks::read_text(name);
  if (!text) return print_error(context, text.error(), Exit::invalid);
  if (!context.json) {
    say("{}", text->text);
    return Exit::passed;
  }
  std::vector<Problem> problems;
  const auto playbook = playbooks::load_playbook(name, problems);
  if (!playbook) return print_error(context, problems);
  auto object = to_json(*playbook);
  object["text"] = valid_utf8(text->text);
  say("{}\n", boost::json::serialize(object));
  return Exit::passed;
}

CommandRow playbook_check_command(Context& context) {
  auto options = std::make_shared<CheckOptions>();
  CommandRow row{"check", "list all errors in playbooks; touches nothing"};
  row.footer =
      "Examples: cupel playbook check mine.yaml\n"
      "          cupel playbook check *.yaml --inventory site.yaml";
  row.options = {{"FILE", &options->files, "files, or shipped ones by their names", kRequired},
                 {"-i,--inventory", &options->inventory, "also plan them for its nodes"},
                 set_option(options->settings),
                 json_flag(context)};
  row.run = [&context, options] { return check(context, *options); };
  return row;
}

CommandRow schema_command() {
  CommandRow row{"schema", "the format as JSON Schema, for editors"};
  row.footer =
      "Example: cupel playbook schema > playbook.schema.json, and as a playbook's first line:\n"
      "         # yaml-language-server: $schema=playbook.schema.json";
  row.run = [] {
    say("{}\n", boost::json::serialize(playbooks::playbook_schema()));
    return Exit::passed;
  };
  return row;
}

CommandRow list_command(Context& context) {
  CommandRow row{"list", "the playbooks that are part of cupel"};
  row.footer = "Example: cupel playbook list";
  row.options = {json_flag(context)};
  row.run = [&context] { return list(context); };
  return row;
}

CommandRow show_playbook_command(Context& context) {
  auto name = std::make_shared<std::string>();
  CommandRow row{"show", "print a playbook as it is written, to change a copy of it"};
  row.footer = "Example: cupel playbook show new-rack > mine.yaml";
  row.options = {{"PLAYBOOK", name.get(), "a shipped one by its name, or a file", kRequired},
                 json_flag(context)};
  row.run = [&context, name] { return show_playbook(context, *name); };
  return row;
}

}  // namespace

CommandRow playbook_command(Context& context) {
  CommandRow row{"playbook", "check, list and show playbooks, and their format as JSON Schema"};
  row.subcommands = {playbook_check_command(context), schema_command(), list_command(context),
                     show_playbook_command(context)};
  return row;
}

}  // namespace cupel::cli
