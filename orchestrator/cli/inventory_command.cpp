#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/check_files.h"
#include "inventory/model.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

Exit check(const Context& context, const std::string& file) {
  Exit exit = Exit::passed;
  const auto inventory = inventory_or_complain(context, file, exit);
  if (!inventory) return exit;
  // What a run would say first, said while there is time; no command is run for a secret.
  if (const auto secrets = inventory::check_secret_files(*inventory); !secrets.empty())
    return complain(context, secrets);
  std::map<std::string, int> count;
  for (const auto& node : inventory->nodes) ++count[node.profile];
  if (context.json) {
    boost::json::object profiles;
    for (const auto& [name, nodes] : count) profiles[name] = nodes;
    const boost::json::object object{{"site", inventory->site},
                                     {"nodes", inventory->nodes.size()},
                                     {"racks", inventory->racks.size()},
                                     {"profiles", profiles},
                                     {"problems", boost::json::array{}}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
    return exit;
  }
  say("{}: site {}, {} nodes in {} racks, no error\n", printable(file), printable(inventory->site),
      inventory->nodes.size(), inventory->racks.size());
  for (const auto& [name, nodes] : count)
    say("  {:>6} x {} ({})\n", nodes, name, printable(inventory->profiles.at(name).description));
  return exit;
}

}  // namespace

void add_inventory(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("inventory", "the expected machines");
  command->require_subcommand(1);
  auto* checking = command->add_subcommand("check", "list all errors in an inventory");
  checking->footer("Example: cupel inventory check site.yaml");
  auto file = std::make_shared<std::string>(default_inventory());
  checking->add_option("FILE", *file, "inventory [$CUPEL_INVENTORY, ./inventory.yaml]");
  add_json_flag(*checking, context);
  checking->callback([&context, &exit, file] { exit = check(context, *file); });
}

}  // namespace cupel::cli
