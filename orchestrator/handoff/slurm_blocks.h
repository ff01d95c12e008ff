#pragma once
// Slurm's topology/block of racks that are one machine: one block for each NVLink domain and
// partition. Refuses what stops slurmctld, and what slurmctld takes without a word and is wrong.
// Pure. Not topology/tree of a network: inventory/slurm_topology.h.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"
#include "inventory/nvlink_domain.h"

namespace cupel::handoff {

struct Block {
  std::string name{};  // "a01"; "a01-5" where the rack has several partitions
  inventory::NvlinkDomain domain{};
  std::vector<std::string> nodes{};  // as Slurm knows them
};

struct BlockTopology {
  std::vector<Block> blocks{};
  std::vector<std::size_t> sizes{};   // BlockSizes: the base, and its double up to all blocks
  std::vector<std::string> others{};  // nodes of Slurm that no block has: they are of no domain
};

/// Of the newest run that read one, by the node's name in the inventory.
using DomainsByNode = std::map<std::string, inventory::NvlinkDomain, std::less<>>;

struct PlannedBlocks {
  BlockTopology topology{};
  std::vector<std::string> problems{};  // all at once; then the topology is not to be written
};

/// `sizes`: BlockSizes as a person wants them; empty: the base is the largest power of two below
/// the smallest block, so that a job of that size finds room with one tray out, and 1 of a block of
/// one. Problems: a node of a domain whose domain is not known; trays that contradict each other
/// (inventory::audit_domains); a node in two blocks; a base above the smallest block; a later size
/// that is not the base times a growing power of two. Source: Slurm, man topology.conf; slurmctld
/// 24.11 and 26.05, tried.
PlannedBlocks plan_blocks(const inventory::Inventory& inventory, const DomainsByNode& domains,
                          std::vector<std::size_t> sizes);

/// "16,32". Errors: kInvalid: no number of nodes, or more than eight.
Result<std::vector<std::size_t>> parse_block_sizes(std::string_view text);

/// topology.conf, of Slurm since 23.11.
std::string block_topology_conf(const BlockTopology& topology);
/// topology.yaml, of Slurm since 25.05.
std::string block_topology_yaml(const BlockTopology& topology);

}  // namespace cupel::handoff
