#include "orchestrator/engine/power_tree.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::engine {
namespace {

using Kind = inventory::PowerNode::Kind;

std::string key(Kind kind, const std::string& name) {
  return std::to_string(static_cast<int>(kind)) + name;
}

Kind kind_above(Kind kind) {
  switch (kind) {
    case Kind::breaker:
      return Kind::pdu;
    case Kind::pdu:
      return Kind::rack;
    default:
      return Kind::room;
  }
}

/// A load below this tells too little of what a full one draws.
constexpr double kTelling = 0.5;

}  // namespace

Milliwatts milliwatts(double watts) {
  const double bounded = std::clamp(watts, 0.0, 1e12);
  return std::isnan(watts) ? 0 : std::llround(bounded * 1000);
}

std::string kilowatts(Milliwatts power) { return plain(static_cast<double>(power) / 1e6, 1); }

PowerTree::LevelId PowerTree::level(Kind kind, const std::string& name) {
  const auto [found, fresh] =
      level_by_key_.try_emplace(key(kind, name), static_cast<LevelId>(levels_.size()));
  if (fresh) {
    levels_.emplace_back();
    levels_.back().kind = kind;
    levels_.back().name = name;
  }
  return found->second;
}

std::int64_t PowerTree::find_level(Kind kind, const std::string& name) const {
  const auto found = level_by_key_.find(key(kind, name));
  return found == level_by_key_.end() ? -1 : std::int64_t{found->second};
}

void PowerTree::connect(const inventory::Inventory& inventory) {
  for (const auto& each : inventory.power) {
    auto& known = levels_[level(each.kind, each.name)];
    known.carries = std::min(known.carries, milliwatts(each.watts));
  }
  for (const auto& rack : inventory.racks) {
    const auto id = level(Kind::rack, rack.name);
    if (!rack.room.empty()) levels_[id].parent = level(Kind::room, rack.room);
  }
  for (const auto& each : inventory.power) {
    if (each.kind == Kind::room || each.parent.empty()) continue;
    const auto id = level(each.kind, each.name);
    if (levels_[id].parent >= 0) continue;
    const auto parent = level(kind_above(each.kind), each.parent);
    levels_[id].parent = parent;
  }
}

void PowerTree::place(Member& member, const inventory::Node& node) {
  std::vector<LevelId> above;
  const auto climb = [&](std::int64_t from) {
    // The four kinds are ordered, so this ends; the bound is for who breaks that order.
    for (int steps = 0; from >= 0 && steps < 8; ++steps) {
      const auto id = static_cast<LevelId>(from);
      if (std::ranges::find(above, id) == above.end()) above.push_back(id);
      from = levels_[id].parent;
    }
  };
  for (const auto& feed : node.feeds) {
    auto from = find_level(Kind::breaker, feed);
    if (from < 0) from = find_level(Kind::pdu, feed);
    climb(from);
  }
  if (!node.rack.empty()) climb(level(Kind::rack, node.rack));
  std::ranges::stable_sort(above, std::ranges::greater{},
                           [&](LevelId id) { return static_cast<int>(levels_[id].kind); });
  member.above = std::move(above);
}

void PowerTree::know(const inventory::Inventory& inventory) {
  connect(inventory);
  for (const auto& each : inventory.nodes) {
    const auto id = node(each);
    node_by_place_[&each] = id;
    auto& member = nodes_[id];
    if (!member.above.empty() || member.loaded > 0) continue;
    const auto& draw = inventory.profile_of(each).draw;
    place(member, each);
    member.idle = milliwatts(draw.idle_watts);
    member.loaded = std::max(member.idle, milliwatts(draw.loaded_watts));
    for (const auto id_above : member.above) {
      levels_[id_above].idle += member.idle;
      ++levels_[id_above].nodes;
    }
    reckon(member);
  }
}

void PowerTree::let_go(const inventory::Inventory& inventory) {
  for (const auto& each : inventory.nodes) node_by_place_.erase(&each);
}

PowerTree::NodeId PowerTree::node(const inventory::Node& node) {
  const auto known = node_by_place_.find(&node);
  if (known != node_by_place_.end()) return known->second;
  const auto [found, fresh] =
      node_by_name_.try_emplace(node.name, static_cast<NodeId>(nodes_.size()));
  if (fresh) {
    nodes_.emplace_back();
    nodes_.back().name = node.name;
  }
  return found->second;
}

const PowerTree::NodeId* PowerTree::find(std::string_view name) const {
  const auto found = node_by_name_.find(std::string{name});
  return found == node_by_name_.end() ? nullptr : &found->second;
}

Milliwatts PowerTree::expected(NodeId node, double load) const {
  const auto& member = nodes_[node];
  const auto share = std::clamp(load, 0.0, 1.0);
  const auto range = static_cast<double>(member.loaded - member.idle);
  return member.idle + static_cast<Milliwatts>(std::ceil(share * range));
}

Milliwatts PowerTree::would_draw(NodeId node, double load) const {
  const auto& member = nodes_[node];
  const auto share = std::clamp(load, 0.0, 1.0);
  const auto over = static_cast<Milliwatts>(std::ceil(share * static_cast<double>(member.excess)));
  const bool as_much = member.seen > 0 && share >= member.seen_at;
  return std::max({expected(node, load) + over, member.measured, as_much ? member.seen : 0});
}

void PowerTree::reckon(Member& member) {
  const auto id = static_cast<NodeId>(&member - nodes_.data());
  const auto now = would_draw(id, member.load);
  const auto change = now - member.drawn;
  member.drawn = now;
  if (change == 0) return;
  for (const auto level : member.above) levels_[level].drawn += change;
}

void PowerTree::works(NodeId node, double load) {
  nodes_[node].load = load;
  reckon(nodes_[node]);
}

void PowerTree::rests(NodeId node) {
  nodes_[node].load = 0;
  nodes_[node].measured = 0;
  reckon(nodes_[node]);
}

bool PowerTree::measured(NodeId node, Milliwatts power, std::uint64_t as) {
  auto& member = nodes_[node];
  member.measured = power;
  if (member.load <= 0) {
    reckon(member);
    return false;
  }
  const auto over = std::max<Milliwatts>(0, power - expected(node, member.load));
  const bool telling = member.load >= kTelling;
  if (telling) member.excess = static_cast<Milliwatts>(static_cast<double>(over) / member.load);
  // Of a small load not the slope, but that this much is drawn: or, shed for it and forgotten, it
  // would begin again, and be shed again.
  member.seen = telling || over == 0 ? 0 : power;
  member.seen_at = member.load;
  if (telling || over > 0) member.taught_as = as;
  reckon(member);
  return over > 0;
}

bool PowerTree::seen_to_draw(NodeId node, double load) const {
  const auto idle = expected(node, 0);
  return nodes_[node].measured > idle + (expected(node, load) - idle) / 2;
}

void PowerTree::unlearn(NodeId node, std::uint64_t as) {
  if (nodes_[node].taught_as != as) return;
  nodes_[node].excess = 0;
  nodes_[node].seen = 0;
  reckon(nodes_[node]);
}

void PowerTree::forget(NodeId node) {
  nodes_[node].measured = 0;
  reckon(nodes_[node]);
}

}  // namespace cupel::engine
