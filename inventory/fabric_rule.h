#pragma once
// A fabric from a rule, for sites whose cables follow one. Pure.
#include <string>
#include <vector>

#include "inventory/fabric.h"

namespace cupel::inventory {

/// Which leaf a node's HCA goes to. rail_optimised: HCA k of every node of a group to the group's
/// leaf k, same port on all of them. fat_tree: all HCAs of a node to the one leaf of its group.
enum class FabricLayout { rail_optimised, fat_tree };

/// Names are patterns: "{group}", "{rail}", "{spine}" and "{plane}", each counted from 1.
struct FabricRule {
  FabricLayout layout = FabricLayout::rail_optimised;
  int group = 32;         // nodes that share their leaves
  int spines = 0;         // of each plane; 0: one group, no spine
  int uplinks = 0;        // of each leaf to each spine; 0: as many as make it non-blocking
  int planes = 1;         // port p of each HCA goes to plane p
  int switch_ports = 64;  // that cables can go to
  int ports_per_cage = 1;
  std::string speed{};  // "NDR"
  int width = 4;
  std::string leaf{};   // pattern; empty: the usual name of the layout
  std::string spine{};  // pattern
  Place where{};
  friend bool operator==(const FabricRule&, const FabricRule&) = default;
};

/// A node that the rule is for, in the order in which ports are given out.
struct FabricMember {
  std::string name;
  std::vector<std::string> hcas;  // rail by rail
  std::string host{};             // as FabricNode::host
  friend bool operator==(const FabricMember&, const FabricMember&) = default;
};

/// At most so many cables are made of a rule.
inline constexpr std::size_t kMostCables = 2'000'000;

/// The fabric of these nodes, and what the rule asks for that cannot be built.
Fabric make_fabric(const FabricRule& rule, const std::vector<FabricMember>& members,
                   std::vector<Problem>& problems);

/// How many ports of a leaf its nodes take: also the first uplink's port, less 1.
int downlinks_of(const FabricRule& rule, const std::vector<FabricMember>& members);

}  // namespace cupel::inventory
