#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>

#include "base/text.h"
#include "inventory/load.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/select.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/dcim_command.h"
#include "orchestrator/cli/inventory_lists.h"
#include "orchestrator/cli/plan_images.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

Exit check(const Context& context, const std::string& file) {
  // No command is run for a secret.
  const auto checked = inventory::check_inventory(file);
  if (!checked.inventory) return print_error(context, checked.problems);
  const auto& inventory = *checked.inventory;
  const auto rejected = rejected_images(inventory, context.state);
  if (!rejected.empty()) return print_error(context, rejected);
  std::map<std::string, int> count;
  for (const auto& node : inventory.nodes) ++count[node.profile];
  if (context.json) {
    boost::json::object profiles;
    for (const auto& [name, nodes] : count) profiles[name] = nodes;
    const boost::json::object object{{"site", inventory.site},
                                     {"nodes", inventory.nodes.size()},
                                     {"racks", inventory.racks.size()},
                                     {"profiles", profiles},
                                     {"problems", boost::json::array{}}};
    std::printf("%s\n", boost::json::serialize(object).c_str());
    return Exit::passed;
  }
  say("{}: site {}, {} nodes in {} racks, no error\n", printable(file), printable(inventory.site),
      inventory.nodes.size(), inventory.racks.size());
  for (const auto& [name, nodes] : count)
    say("  {:>6} x {} ({})\n", nodes, name, printable(inventory.profiles.at(name).description));
  return Exit::passed;
}

struct ListAsked {
  std::string file = default_inventory(), nodes = "all";
};

/// What `--nodes` means, before a run takes it.
Exit list(const Context& context, const ListAsked& asked) {
  TRY(const auto inventory, inventory_or_exit(context, asked.file));
  const auto nodes =
      inventory::select(inventory, asked.nodes, inventory::RackScope::all(), nodes_of_run(context));
  if (!nodes) return print_error(context, nodes.error(), Exit::invalid);
  std::vector<Row> rows{{"node", "rack", "unit", "profile", "serial", "bmc", "ssh"}};
  boost::json::array all;
  for (const auto* node : *nodes) {
    const auto unit = node->unit > 0 ? fmt::format("{}", node->unit) : std::string{};
    const auto bmc = inventory::to_string(node->bmc.endpoint);
    const auto ssh = inventory::to_string(node->ssh.endpoint);
    rows.push_back({node->name, node->rack, unit, node->profile, node->serial, bmc, ssh});
    all.push_back({{"node", node->name},
                   {"rack", node->rack},
                   {"unit", node->unit},
                   {"profile", node->profile},
                   {"serial", node->serial},
                   {"bmc", bmc},
                   {"ssh", ssh}});
  }
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"nodes", all}}));
  else
    say("{}", table(rows));
  return Exit::passed;
}

}  // namespace

CommandRow inventory_command(Context& context) {
  auto file = std::make_shared<std::string>(default_inventory());
  CommandRow check_row{"check", "list all errors in an inventory"};
  check_row.footer = "Example: cupel inventory check site.yaml";
  check_row.options = {
      {"FILE", file.get(),
       "inventory [$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"-i,--inventory", file.get(), "the same, as other commands have it", {.excludes = {"FILE"}}},
      json_flag(context)};
  check_row.run = [&context, file] { return check(context, *file); };
  auto asked = std::make_shared<ListAsked>();
  CommandRow list_row{"list", "the nodes of an inventory, or those that NODES means"};
  list_row.footer = "Example: cupel inventory list rack:a01,!a01-n03";
  list_row.options = {{"NODES", &asked->nodes, "as with run --nodes [all]"},
                      {"-i,--inventory", &asked->file,
                       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
                      json_flag(context)};
  list_row.run = [&context, asked] { return list(context, *asked); };
  CommandRow row{"inventory", "the expected machines"};
  row.subcommands = {check_row, list_row, ansible_row(context), prometheus_row(context),
                     import_row(context)};
  return row;
}

}  // namespace cupel::cli
