// doctor: whether this admin node can do its work.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/paths.h"
#include "inventory/model.h"
#include "orchestrator/cli/admin_checks.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using Level = AdminCheck::Level;

struct DoctorOptions {
  std::string inventory{};
  std::string node{};
};

void print_checks(const std::vector<AdminCheck>& checks) {
  std::vector<Row> rows{{"check", "state", "found"}};
  for (const auto& each : checks) {
    const char* state = each.level == Level::ok        ? "ok"
                        : each.level == Level::warning ? "WARNING"
                                                       : "FAILED";
    rows.push_back({each.about, state, each.found});
  }
  say("{}\n", table(rows));
  for (const auto& each : checks)
    if (!each.advice.empty()) say("{}: {}\n", each.about, each.advice);
}

/// Without an inventory the machine alone is checked; one that is named or lies here must be right.
Exit examine(const Context& context, const DoctorOptions& asked) {
  std::optional<inventory::Inventory> inventory;
  const bool named = !asked.inventory.empty();
  const auto file = named ? asked.inventory : default_inventory();
  if (named || is_there(file)) {
    TRY(inventory, inventory_or_exit(context, file));
  }
  if (!asked.node.empty() && (!inventory || inventory->node(asked.node) == nullptr))
    return print_error(context,
                       Error{Code::kInvalid, fmt::format("{} has no node '{}'", file, asked.node)},
                       Exit::invalid);
  const auto checks = check_admin_node({.state = context.state,
                                        .programs = context.programs,
                                        .inventory = inventory ? &*inventory : nullptr,
                                        .node = asked.node});
  if (context.json) {
    boost::json::array all;
    for (const auto& each : checks) all.push_back(to_json(each));
    const boost::json::object document{
        {"version", CUPEL_VERSION}, {"state", context.state.string()}, {"checks", all}};
    std::printf("%s\n", boost::json::serialize(document).c_str());
  } else {
    print_checks(checks);
    if (!inventory) say("no inventory: names, BMC and scheduler were not checked (-i FILE)\n");
  }
  const bool failed =
      std::ranges::any_of(checks, [](const auto& each) { return each.level == Level::failure; });
  return failed ? Exit::failed : Exit::passed;
}

}  // namespace

CommandRow doctor_command(Context& context) {
  auto asked = std::make_shared<DoctorOptions>();
  CommandRow row{"doctor",
                 "check this admin node: clock, limits, disk, programs, names, one BMC, Slurm"};
  row.footer =
      "Changes nothing and logs in nowhere.\n"
      "Example: cupel doctor\n"
      "         cupel doctor --node a01-n07\n"
      "Exit codes: 0 nothing failed (there may be warnings), 1 something failed, 2 the inventory "
      "is\n"
      "            wrong.";
  row.options = {
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml or /etc/cupel/inventory.yaml where there is one]"},
      {"--node", &asked->node, "the node whose BMC is tried [the first]"},
      json_flag(context)};
  row.run = [&context, asked] { return examine(context, *asked); };
  return row;
}

}  // namespace cupel::cli
