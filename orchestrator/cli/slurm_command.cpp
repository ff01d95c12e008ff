#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdlib>

#include "base/file.h"
#include "base/for_each_of.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/slurm_site.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/seen_domains.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/handoff/gres_conf.h"
#include "orchestrator/handoff/slurm_blocks.h"
#include "orchestrator/handoff/slurm_conf.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kAtOnce = 16;
constexpr std::chrono::seconds kPatience{60};

using Words = std::vector<std::string>;

/// What Slurm has of a node, and where that is not what its profile says.
struct Compared {
  std::optional<handoff::SlurmNode> node{};  // nothing: Slurm does not know it
  Words disagreements{};
};

Task<Result<Compared>> compare(handoff::Slurm& slurm, const inventory::Inventory& inventory,
                               const inventory::Node* node) {
  const auto deadline = Deadline::in(kPatience);
  auto reported = co_await slurm.node(node->slurm_name, deadline);
  if (reported) {
    auto words = handoff::disagreements(inventory.profile_of(*node), *reported);
    co_return Compared{*std::move(reported), std::move(words)};
  }
  // That Slurm does not know the node at all is the plainest disagreement.
  if (reported.error().code == Code::kNotFound)
    co_return Compared{{}, {node->slurm_name + ": Slurm does not know it"}};
  co_return std::move(reported).error();
}

/// gres.conf is always in the folder of slurm.conf. Source: man gres.conf. Empty: slurmrestd
/// answers for a cluster whose files may be on another machine.
std::string gres_beside(const inventory::SlurmSite& site) {
  const char* named = std::getenv("SLURM_CONF");
  const bool is_reported = named != nullptr && *named != '\0';
  if (site.rest && site.configuration.empty() && !is_reported) return {};
  const std::filesystem::path conf{!site.configuration.empty() ? site.configuration.c_str()
                                   : is_reported               ? named
                                                               : "/etc/slurm/slurm.conf"};
  return (conf.parent_path() / "gres.conf").string();
}

/// What came of the file that slurmd reads.
struct GresConf {
  std::string file{};
  std::string why_not{};  // empty: it was read
  handoff::GresFindings found{};
};

/// Slurm looks for what an Include line names beside gres.conf.
handoff::ReadIncluded included_by(const std::string& file) {
  return [folder = std::filesystem::path{file}.parent_path()](
             const std::string& name) -> std::optional<std::string> {
    auto text = read_file(folder / name, handoff::kLargestGresConf);
    return text ? std::optional{*std::move(text)} : std::nullopt;
  };
}

/// Errors: kNotFound, kInvalid: the file that was named cannot be read. One that nobody named may
/// be on the nodes alone.
Result<GresConf> gres_conf_of(const inventory::SlurmSite& site, const std::string& named,
                              std::span<const handoff::SlurmNode> nodes) {
  GresConf conf{.file = named.empty() ? gres_beside(site) : named};
  if (conf.file.empty()) {
    conf.why_not = "slurmrestd does not show it";
    return conf;
  }
  const auto text = read_file(conf.file, handoff::kLargestGresConf);
  if (!text && !named.empty()) return text.error();
  if (text)
    conf.found = handoff::gres_findings(conf.file, *text, nodes, included_by(conf.file));
  else
    conf.why_not = text.error().what;
  return conf;
}

void say_agreement(const Words& all, std::size_t nodes, const GresConf& gres) {
  for (const auto& line : all) say("{}\n", line);
  if (all.empty()) say("slurmctld agrees with the inventory on all {} nodes\n", nodes);
  for (const auto& note : gres.found.notes) say("{}\n", note);
  if (!gres.why_not.empty())
    say("gres.conf was not compared: {}; name it with --gres FILE\n", gres.why_not);
  else if (gres.found.faults.empty() && gres.found.is_whole)
    say("{} fits what slurmctld has\n", gres.file);
}

Exit check(const Context& context, const inventory::Inventory& inventory,
           const std::string& gres_file) {
  const auto site = inventory.slurm.value_or(inventory::SlurmSite{});
  handoff::Slurm slurm{site};
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : inventory.nodes)
    if (!inventory.kubernetes || inventory.is_of_slurm(node)) nodes.push_back(&node);
  asio::io_context io{1};
  const auto each = [&](const inventory::Node* node) { return compare(slurm, inventory, node); };
  const auto answers = run_to_end(io, for_each_of<Compared>(std::move(nodes), kAtOnce, each));
  Words all;
  std::vector<handoff::SlurmNode> known;
  for (const auto& answer : answers) {
    if (!answer) return print_error(context, answer.error(), Exit::unfinished);
    all.insert(all.end(), answer->disagreements.begin(), answer->disagreements.end());
    if (answer->node) known.push_back(*answer->node);
  }
  const auto gres = gres_conf_of(site, gres_file, known);
  if (!gres) return print_error(context, gres.error(), Exit::invalid);
  all.insert(all.end(), gres->found.faults.begin(), gres->found.faults.end());
  if (context.json) {
    boost::json::object answer{{"disagreements", boost::json::value_from(all)},
                               {"gres_conf", gres->file},
                               {"gres_conf_notes", boost::json::value_from(gres->found.notes)}};
    if (!gres->why_not.empty()) answer["gres_conf_not_read"] = gres->why_not;
    std::printf("%s\n", boost::json::serialize(answer).c_str());
  } else {
    say_agreement(all, answers.size(), *gres);
  }
  return all.empty() ? Exit::passed : Exit::failed;
}

struct ConfOptions {
  std::string inventory = default_inventory();
  bool checks = false;
  std::string gres{};
  std::string blocks{};  // "conf", "yaml"; empty: slurm.conf
  std::string block_sizes{};
};

/// All that is wrong is reported at once, and then nothing is printed.
Exit print_blocks(const Context& context, const inventory::Inventory& inventory,
                  const ConfOptions& options) {
  std::vector<std::size_t> sizes;
  if (!options.block_sizes.empty()) {
    auto given = within("--block-sizes", handoff::parse_block_sizes(options.block_sizes));
    if (!given) return print_error(context, given.error(), Exit::invalid);
    sizes = *std::move(given);
  }
  const auto store = open_store_for(context, inventory);
  if (!store) return print_error_of_store(context, store.error());
  std::set<std::string, std::less<>> names;
  for (const auto& node : inventory.nodes) names.insert(node.name);
  const auto domains = seen_domains(**store, names);
  if (!domains) return print_error_of_store(context, domains.error());
  const auto planned = handoff::plan_blocks(inventory, *domains, std::move(sizes));
  if (!planned.problems.empty()) {
    std::vector<inventory::Problem> problems;
    for (const auto& what : planned.problems) problems.push_back({{options.inventory, 0, 0}, what});
    return print_error(context, problems);
  }
  const auto text = options.blocks == "yaml" ? handoff::block_topology_yaml(planned.topology)
                                             : handoff::block_topology_conf(planned.topology);
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{{"topology", text}}));
  else
    say("{}", text);
  return Exit::passed;
}

Exit print_conf(const Context& context, const ConfOptions& options) {
  TRY(const auto inventory, inventory_or_exit(context, options.inventory));
  if (options.checks) return check(context, inventory, options.gres);
  if (!options.blocks.empty()) return print_blocks(context, inventory, options);
  const auto text = handoff::slurm_conf(inventory);
  if (context.json)
    std::printf("%s\n", boost::json::serialize(boost::json::object{{"conf", text}}).c_str());
  else
    std::fputs(text.c_str(), stdout);
  return Exit::passed;
}

}  // namespace

CommandRow slurm_command(Context& context) {
  auto options = std::make_shared<ConfOptions>();
  CommandRow conf_row{"conf", "the NodeName, Gres and partition lines of the inventory"};
  conf_row.footer =
      "Examples: cupel slurm conf\n          cupel slurm conf --check\n          cupel slurm conf "
      "--check --gres /etc/slurm/gres.conf\n          cupel slurm conf --blocks conf > "
      "topology.conf";
  conf_row.options = {
      {"-i,--inventory", &options->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--check", &options->checks, "say where the running slurmctld and gres.conf disagree"},
      {"--gres",
       &options->gres,
       "the gres.conf to compare [beside slurm.conf]",
       {.needs = {"--check"}}},
      {"--blocks",
       &options->blocks,
       "print topology/block of NVL72 racks as topology.conf (conf, Slurm 23.11) or topology.yaml "
       "(yaml, Slurm 25.05), from the NVLink domains that runs have read",
       {.among = {"conf", "yaml"}, .excludes = {"--check"}}},
      {"--block-sizes",
       &options->block_sizes,
       "numbers of nodes, the base block first [the largest power of two below the smallest rack, "
       "doubled up to all racks]",
       {.check =
            [](const std::string& text) {
              const auto sizes = handoff::parse_block_sizes(text);
              return sizes ? std::string{} : sizes.error().what;
            },
        .placeholder = "16,32",
        .needs = {"--blocks"}}},
      json_flag(context)};
  conf_row.run = [&context, options] { return print_conf(context, *options); };
  CommandRow row{"slurm", "the lines for slurm.conf"};
  row.subcommands = {conf_row};
  return row;
}

}  // namespace cupel::cli
