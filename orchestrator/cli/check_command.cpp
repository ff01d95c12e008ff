// check: the light test of a node. The test itself is cupel-node's and runs there without us; here
// is made what it compares with, and it is run on many nodes at once.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/paths.h"
#include "base/text.h"
#include "burnin/criteria/light_check.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

struct ConfAsked {
  std::string name{};
  std::string inventory = default_inventory();
  bool inventory_named = false;
};

/// A node's profile, or one by its own name: that of the inventory's folder, else a shipped one.
OrExit<inventory::Profile> profile_of(const Context& context, const ConfAsked& asked) {
  if (asked.inventory_named || is_there(asked.inventory)) {
    TRY(const auto site, inventory_or_exit(context, asked.inventory));
    if (const auto* node = site.node(asked.name)) return site.profile_of(*node);
  }
  const auto folder = absolute_path(asked.inventory).parent_path() / "profiles";
  const inventory::ProfileSource source{folder};
  std::vector<inventory::Problem> problems;
  auto profile = source.load(asked.name, problems);
  if (profile) return *std::move(profile);
  if (!problems.empty()) return print_error(context, problems);
  const auto known = source.names();
  return print_error(
      context,
      Error{Code::kInvalid,
            fmt::format("there is no node and no profile '{}'{}", printable(asked.name),
                        inventory::did_you_mean(asked.name, std::span<const std::string>{known}))},
      Exit::invalid);
}

Exit conf(const Context& context, const ConfAsked& asked) {
  TRY(const auto profile, profile_of(context, asked));
  say("{}\n", boost::json::serialize(burnin::light_check_of(profile)));
  return Exit::passed;
}

}  // namespace

CommandRow check_command(Context& context) {
  auto asked = std::make_shared<ConfAsked>();
  CommandRow conf_row{"conf", "print what the light test compares with, from a node's profile"};
  conf_row.footer = "Example: cupel check conf dgx-h100 > check.json";
  conf_row.options = {{"NODE", &asked->name, "a node, or a profile", kRequired},
                      {"-i,--inventory",
                       &asked->inventory,
                       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]",
                       {.given = &asked->inventory_named}}};
  conf_row.run = [&context, asked] { return conf(context, *asked); };
  CommandRow row{"check",
                 "the light test of a node for Slurm's HealthCheckProgram, prolog and epilog"};
  row.footer =
      "Examples: cupel check conf a01-n07 > check.json    to be /etc/cupel/check.json on the node\n"
      "          cupel exec rack:a01 -- /opt/cupel/bin/cupel-node check\n"
      "          HealthCheckProgram=/etc/cupel/health    with: exec /opt/cupel/bin/cupel-node "
      "check --slurm";
  row.subcommands = {conf_row};
  return row;
}

}  // namespace cupel::cli
