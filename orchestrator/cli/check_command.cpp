// check: the light test of a node. The test itself is cupel-node's and runs there without us; here
// is made what it compares with, and it is run on many nodes at once.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/paths.h"
#include "base/text.h"
#include "burnin/criteria/light_check.h"
#include "inventory/load_profile.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"

namespace cupel::cli {
namespace {

struct ConfAsked {
  std::string name{};
  std::string inventory = default_inventory();
};

/// A node's profile, or one by its own name: that of the inventory's folder, else a shipped one.
std::optional<inventory::Profile> profile_of(const Context& context, const ConfAsked& asked,
                                             Exit& exit) {
  const auto has_inventory = is_there(asked.inventory);
  if (has_inventory) {
    const auto site = inventory_or_complain(context, asked.inventory, exit);
    if (!site) return std::nullopt;
    if (const auto* node = site->node(asked.name)) return site->profile_of(*node);
  }
  const auto folder = absolute_path(asked.inventory).parent_path() / "profiles";
  const inventory::ProfileSource source{folder};
  std::vector<inventory::Problem> problems;
  auto profile = source.load(asked.name, problems);
  if (profile) return profile;
  if (!problems.empty()) {
    exit = complain(context, problems);
    return std::nullopt;
  }
  const auto known = source.names();
  exit = complain(
      context,
      Error{Code::kInvalid,
            fmt::format("there is no node and no profile '{}'{}", printable(asked.name),
                        inventory::did_you_mean(asked.name, std::span<const std::string>{known}))},
      Exit::invalid);
  return std::nullopt;
}

Exit conf(const Context& context, const ConfAsked& asked) {
  Exit exit = Exit::passed;
  const auto profile = profile_of(context, asked, exit);
  if (!profile) return exit;
  say("{}\n", boost::json::serialize(burnin::light_check_of(*profile)));
  return Exit::passed;
}

}  // namespace

void add_check(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand(
      "check", "the light test of a node for Slurm's HealthCheckProgram, prolog and epilog");
  command->footer(
      "Examples: cupel check conf a01-n07 > check.json    to be /etc/cupel/check.json on the node\n"
      "          cupel exec rack:a01 -- /opt/cupel/bin/cupel-node check\n"
      "          HealthCheckProgram=/etc/cupel/health    with: exec /opt/cupel/bin/cupel-node "
      "check "
      "--slurm");
  command->require_subcommand(1);
  auto asked = std::make_shared<ConfAsked>();
  auto* made = command->add_subcommand(
      "conf", "print what the light test compares with, from a node's profile");
  made->footer("Example: cupel check conf dgx-h100 > check.json");
  made->add_option("NODE", asked->name, "a node, or a profile")->required();
  made->add_option("-i,--inventory", asked->inventory, "[$CUPEL_INVENTORY, ./inventory.yaml]");
  made->callback([&context, &exit, asked] { exit = conf(context, *asked); });
}

}  // namespace cupel::cli
