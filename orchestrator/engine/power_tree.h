#pragma once
// What every level of the site's power tree draws, as it is reckoned: node <= breaker <= PDU <=
// rack <= room. Pure bookkeeping in whole milliwatts, so that what is added can be taken away again
// to the last one. Decides nothing: dispatcher.h does.
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/power_node.h"

namespace cupel::engine {

using Milliwatts = std::int64_t;

Milliwatts milliwatts(double watts);
/// "9.8", of 9.8 kW.
std::string kilowatts(Milliwatts power);

class PowerTree {
 public:
  using LevelId = std::uint32_t;
  using NodeId = std::uint32_t;
  static constexpr Milliwatts kUnlimited = std::numeric_limits<Milliwatts>::max() / 4;

  struct Level {
    inventory::PowerNode::Kind kind{};
    std::string name;
    Milliwatts carries = kUnlimited;  // what the inventory says
    Milliwatts drawn = 0;             // as it is reckoned now
    Milliwatts idle = 0;              // with every node below it idle
    std::uint32_t nodes = 0;
    std::int64_t parent = -1;
  };

  /// Adds an inventory's levels and nodes. A level that is known already (same kind and name) keeps
  /// the smaller watts; a node that is known by its name keeps its place. Every node draws its idle
  /// watts from here on: fully on each of its feeds, since one of them may have to carry it alone,
  /// and once on each level above them. A rack without watts of its own is a level without a limit.
  void know(const inventory::Inventory& inventory);
  /// The inventory goes, and its addresses may become those of another one. What was learned of its
  /// levels and nodes stays, by their names.
  void let_go(const inventory::Inventory& inventory);

  /// By its name. A node of no inventory that is known here draws nothing.
  NodeId node(const inventory::Node& node);
  /// Nothing for a name that was never seen.
  const NodeId* find(std::string_view name) const;
  const std::string& name(NodeId node) const { return nodes_[node].name; }

  const std::vector<Level>& levels() const { return levels_; }
  /// The levels that carry this node: breakers first, the room last.
  std::span<const LevelId> above(NodeId node) const { return nodes_[node].above; }

  /// By the profile alone, at this share of what it draws from idle to loaded.
  Milliwatts expected(NodeId node, double load) const;
  /// What it draws now, and what it would with this load: never less than what was measured.
  Milliwatts drawn(NodeId node) const { return nodes_[node].drawn; }
  Milliwatts would_draw(NodeId node, double load) const;

  /// It works, or is idle again. What was measured while it worked is forgotten with the work, but
  /// by how much a load exceeded its profile is kept until the next measurement under load.
  void works(NodeId node, double load);
  void rests(NodeId node);
  /// Under load a measurement also teaches what the next load will draw: true if it did. `as` names
  /// what was taught, to unlearn() it; a later lesson replaces it.
  bool measured(NodeId node, Milliwatts power, std::uint64_t as);
  /// What was measured last, and is not forgotten, is more of such a load than of none.
  bool seen_to_draw(NodeId node, double load) const;
  void forget(NodeId node);
  void unlearn(NodeId node, std::uint64_t as);

 private:
  struct Member {
    std::string name;
    Milliwatts idle = 0;
    Milliwatts loaded = 0;
    Milliwatts measured = 0;
    Milliwatts excess = 0;  // of a full load, over its profile
    Milliwatts seen = 0;    // under a load too small to tell of a full one: `seen_at`
    double seen_at = 0;
    std::uint64_t taught_as = 0;
    double load = 0;
    Milliwatts drawn = 0;
    std::vector<LevelId> above{};
  };

  LevelId level(inventory::PowerNode::Kind kind, const std::string& name);
  std::int64_t find_level(inventory::PowerNode::Kind kind, const std::string& name) const;
  void connect(const inventory::Inventory& inventory);
  void place(Member& member, const inventory::Node& node);
  void reckon(Member& member);

  std::vector<Level> levels_{};
  std::vector<Member> nodes_{};
  std::unordered_map<std::string, LevelId> level_by_key_{};
  std::unordered_map<std::string, NodeId> node_by_name_{};
  std::unordered_map<const inventory::Node*, NodeId> node_by_place_{};
};

}  // namespace cupel::engine
