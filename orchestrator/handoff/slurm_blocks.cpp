#include "orchestrator/handoff/slurm_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/profile.h"

namespace cupel::handoff {
namespace {

using inventory::NvlinkDomain;

constexpr std::size_t kMostSizes = 8, kMostNodesOfABlock = 65536;

/// In the order of the inventory's nodes; each has the name of its first node's rack.
struct Blocks {
  std::vector<Block> all{};
  std::map<NvlinkDomain, std::size_t> by_domain{};

  void add(const inventory::Node& node, const NvlinkDomain& domain) {
    const auto [known, is_new] = by_domain.try_emplace(domain, all.size());
    if (is_new) all.push_back({node.rack, domain, {}});
    all[known->second].nodes.push_back(node.slurm_name);
  }
};

/// A rack of one block gives it its name; one of several, with the partition behind it.
void name_blocks(std::vector<Block>& blocks) {
  std::map<std::string, int, std::less<>> of_rack;
  for (const auto& block : blocks) ++of_rack[block.name];
  std::set<std::string> taken;
  for (auto& block : blocks) {
    const auto rack = block.name.empty() ? std::string{"nvl"} : block.name;
    auto name = rack;
    if (block.name.empty() || of_rack[block.name] > 1)
      name = fmt::format("{}-{}", rack, block.domain.clique);
    for (int again = 2; !taken.insert(name).second; ++again)
      name = fmt::format("{}-{}-{}", rack, block.domain.clique, again);
    block.name = std::move(name);
  }
}

std::size_t smallest_of(const std::vector<Block>& blocks) {
  return std::ranges::min_element(blocks, {}, [](const Block& one) { return one.nodes.size(); })
      ->nodes.size();
}

/// 16 of 18: with two trays out a job of 16 still fits.
std::vector<std::size_t> usual_sizes(const std::vector<Block>& blocks) {
  const auto smallest = smallest_of(blocks);
  std::vector<std::size_t> sizes{smallest < 2 ? 1 : std::bit_floor(smallest - 1)};
  while (sizes.size() < kMostSizes && sizes.back() * 2 <= sizes.front() * blocks.size())
    sizes.push_back(sizes.back() * 2);
  return sizes;
}

void check_sizes(const BlockTopology& topology, std::vector<std::string>& problems) {
  const auto& sizes = topology.sizes;
  for (const auto& block : topology.blocks)
    if (block.nodes.size() < sizes.front())
      problems.push_back(fmt::format(
          "block {} has {} nodes, fewer than the base block of {}: slurmctld 24.11 does not start "
          "with it; give a smaller base with --block-sizes",
          block.name, block.nodes.size(), sizes.front()));
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] <= sizes[i - 1] || sizes[i] % sizes.front() != 0 ||
        !std::has_single_bit(sizes[i] / sizes.front()))
      problems.push_back(fmt::format(
          "block size {} is not the base block of {} times a growing power of two: slurmctld does "
          "not start with it",
          sizes[i], sizes.front()));
}

void check_nodes(const std::vector<Block>& blocks, std::vector<std::string>& problems) {
  std::map<std::string, std::string, std::less<>> block_of;
  for (const auto& block : blocks)
    for (const auto& node : block.nodes)
      if (const auto [known, is_new] = block_of.try_emplace(node, block.name); !is_new)
        problems.push_back(
            fmt::format("{} is in two blocks, {} and {}: slurmctld takes it without a word", node,
                        known->second, block.name));
}

std::string comment_of(const BlockTopology& topology, std::string_view needs) {
  auto text = fmt::format(
      "# Blocks are NVLink domains (ClusterUUID.CliqueId of the GPUs). In slurm.conf:\n"
      "# TopologyPlugin=topology/block\n"
      "# {}\n"
      "# Without --segment a job that finds no room in one rack may span two: keep it together\n"
      "# with sbatch --segment=N, of at most {} nodes.\n"
      "# Drain a tray that is out, and leave it in its line: a block below the base of {} stops\n"
      "# slurmctld 24.11.\n",
      needs, topology.sizes.front(), topology.sizes.front());
  for (const auto& block : topology.blocks)
    text += fmt::format("# {}: {}\n", block.name, block.domain.text());
  if (!topology.others.empty())
    text += fmt::format("# In no block, since they are of no NVLink domain: {}\n",
                        inventory::fold_last(topology.others));
  return text;
}

}  // namespace

PlannedBlocks plan_blocks(const inventory::Inventory& inventory, const DomainsByNode& domains,
                          std::vector<std::size_t> sizes) {
  PlannedBlocks planned;
  auto& [topology, problems] = planned;
  Blocks blocks;
  std::vector<inventory::TrayDomain> trays;
  std::vector<std::string> unread;
  for (const auto& node : inventory.nodes) {
    if (inventory.kubernetes && !inventory.is_of_slurm(node)) continue;
    if (!inventory::belongs_in_domain(inventory.profile_of(node))) {
      topology.others.push_back(node.slurm_name);
      continue;
    }
    const auto known = domains.find(node.name);
    if (known == domains.end()) {
      unread.push_back(node.name);
      continue;
    }
    blocks.add(node, known->second);
    trays.push_back({node.name, node.rack, known->second});
  }
  if (!unread.empty())
    problems.push_back(
        fmt::format("no recent run has read one NVLink domain of all joined GPUs of {}: "
                    "cupel run audit --nodes {}",
                    fmt::join(unread, ", "), inventory::fold(unread)));
  for (auto& finding : inventory::audit_domains(trays)) problems.push_back(std::move(finding.what));
  if (blocks.all.empty() && problems.empty())
    problems.emplace_back("no node of Slurm has a profile whose machines are in an NVLink domain");
  if (blocks.all.empty()) return planned;
  topology.blocks = std::move(blocks.all);
  name_blocks(topology.blocks);
  topology.sizes = sizes.empty() ? usual_sizes(topology.blocks) : std::move(sizes);
  check_nodes(topology.blocks, problems);
  check_sizes(topology, problems);
  return planned;
}

Result<std::vector<std::size_t>> parse_block_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const auto word : split(text, ',')) {
    const auto size = number<std::size_t>(trimmed(word));
    if (!size || *size == 0 || *size > kMostNodesOfABlock || sizes.size() == kMostSizes)
      return Error{Code::kInvalid,
                   fmt::format("must be up to {} numbers of nodes such as 16,32, not '{}'",
                               kMostSizes, printable(shortened(text, 100)))};
    sizes.push_back(*size);
  }
  return sizes;
}

std::string block_topology_conf(const BlockTopology& topology) {
  auto text = "# topology.conf\n" +
              comment_of(topology,
                         "Slurm 23.11 and later. Slurm 22.05, as in Debian 12, has no "
                         "topology/block: it cannot use this file.");
  for (const auto& block : topology.blocks)
    text += fmt::format("BlockName={} Nodes={}\n", block.name, inventory::fold_last(block.nodes));
  return text + fmt::format("BlockSizes={}\n", fmt::join(topology.sizes, ","));
}

std::string block_topology_yaml(const BlockTopology& topology) {
  auto text = "# topology.yaml\n" +
              comment_of(topology,
                         "Slurm 25.05 and later, and hides topology.conf without a word. Slurm "
                         "22.05, as in Debian 12, cannot use it.");
  text += fmt::format(
      "- topology: nvlink\n  cluster_default: true\n  block:\n    block_sizes: [{}]\n    blocks:\n",
      fmt::join(topology.sizes, ", "));
  for (const auto& block : topology.blocks)
    text += fmt::format("      - {{block: \"{}\", nodes: \"{}\"}}\n", block.name,
                        inventory::fold_last(block.nodes));
  return text;
}

}  // namespace cupel::handoff
