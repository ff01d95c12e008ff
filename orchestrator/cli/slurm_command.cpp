#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/for_each_of.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/slurm_site.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/handoff/slurm_conf.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kAtOnce = 16;
constexpr std::chrono::seconds kPatience{60};

using Words = std::vector<std::string>;

Task<Result<Words>> compare(handoff::Slurm& slurm, const inventory::Inventory& inventory,
                            const inventory::Node* node) {
  const auto deadline = Deadline::in(kPatience);
  auto told = co_await slurm.node(node->slurm_name, deadline);
  if (told) co_return handoff::disagreements(inventory.profile_of(*node), *told);
  // That Slurm does not know the node at all is the plainest disagreement.
  if (told.error().code == Code::kNotFound)
    co_return Words{node->slurm_name + ": Slurm does not know it"};
  co_return std::move(told).error();
}

Exit check(const Context& context, const inventory::Inventory& inventory) {
  handoff::Slurm slurm{inventory.slurm.value_or(inventory::SlurmSite{})};
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : inventory.nodes) nodes.push_back(&node);
  asio::io_context io{1};
  const auto each = [&](const inventory::Node* node) { return compare(slurm, inventory, node); };
  const auto answers = run_to_end(io, for_each_of<Words>(std::move(nodes), kAtOnce, each));
  boost::json::array all;
  for (const auto& answer : answers) {
    if (!answer) return complain(context, answer.error(), Exit::unfinished);
    for (const auto& line : *answer) all.emplace_back(line);
  }
  if (context.json) {
    std::printf("%s\n",
                boost::json::serialize(boost::json::object{{"disagreements", all}}).c_str());
  } else {
    for (const auto& line : all) say("{}\n", std::string_view{line.get_string()});
    if (all.empty()) say("slurmctld agrees with the inventory on all {} nodes\n", answers.size());
  }
  return all.empty() ? Exit::passed : Exit::failed;
}

Exit print_conf(const Context& context, const std::string& file, bool checking) {
  TRY(const auto inventory, inventory_or_complain(context, file));
  if (checking) return check(context, inventory);
  const auto text = handoff::slurm_conf(inventory);
  if (context.json)
    std::printf("%s\n", boost::json::serialize(boost::json::object{{"conf", text}}).c_str());
  else
    std::fputs(text.c_str(), stdout);
  return Exit::passed;
}

}  // namespace

CommandRow slurm_command(Context& context) {
  auto file = std::make_shared<std::string>(default_inventory());
  auto checking = std::make_shared<bool>(false);
  CommandRow conf_row{"conf", "the NodeName, Gres and partition lines of the inventory"};
  conf_row.footer = "Examples: cupel slurm conf\n          cupel slurm conf --check";
  conf_row.options = {{"-i,--inventory", file.get(),
                       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
                      {"--check", checking.get(), "say where the running slurmctld disagrees"},
                      json_flag(context)};
  conf_row.run = [&context, file, checking] { return print_conf(context, *file, *checking); };
  CommandRow row{"slurm", "the lines for slurm.conf"};
  row.subcommands = {conf_row};
  return row;
}

}  // namespace cupel::cli
