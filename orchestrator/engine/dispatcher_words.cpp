// What a dispatcher says to people: why a step could never begin, and why it has not yet.
#include <fmt/format.h>

#include <algorithm>

#include "inventory/node.h"
#include "inventory/node_range.h"
#include "orchestrator/engine/dispatcher_state.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"

namespace cupel::engine {
namespace {

using Kind = inventory::PowerNode::Kind;

std::string_view word(Kind kind) {
  switch (kind) {
    case Kind::room:
      return "room";
    case Kind::rack:
      return "rack";
    case Kind::pdu:
      return "PDU";
    case Kind::breaker:
      return "breaker";
  }
  return "level";
}

std::string words_of_nodes(const Offer& offer) {
  std::vector<std::string> names;
  for (const auto* node : offer.nodes) names.push_back(node->name);
  return inventory::fold(names);
}

}  // namespace

std::string words_of(const PowerTree::Level& level) {
  return fmt::format("{} {}", word(level.kind), level.name);
}

std::string words_of(const Offer& offer) {
  return offer.step->name + " of " + words_of_nodes(offer);
}

std::string slot_name(const playbooks::Claim& claim, const inventory::Node& node) {
  switch (claim.scope) {
    case playbooks::Claim::Scope::node:
      return claim.resource + " of " + node.name;
    case playbooks::Claim::Scope::rack:
      return claim.resource + " in rack " + node.rack;
    case playbooks::Claim::Scope::site:
      break;
  }
  return claim.resource;
}

std::int64_t Dispatcher::State::capacity_of(const PowerTree::Level& level) const {
  if (level.carries >= PowerTree::kUnlimited) return PowerTree::kUnlimited;
  const auto share = std::clamp(limits.power_share, 0.0, 1.0);
  return static_cast<Milliwatts>(static_cast<double>(level.carries) * share);
}

std::optional<std::string> Dispatcher::State::too_many(const Offer& offer) const {
  for (const auto& claim : offer.step->claims) {
    const auto limit = limits.slots.find(claim.resource);
    if (limit == limits.slots.end() || claim.count <= limit->second) continue;
    return fmt::format("{} needs {} of {}, there are {}", words_of(offer), claim.count,
                       claim.resource, limit->second);
  }
  return std::nullopt;
}

std::optional<std::string> Dispatcher::State::too_much(const Offer& offer) const {
  struct Sum {
    Milliwatts draws = 0;
    Milliwatts idle = 0;
    std::uint32_t nodes = 0;
  };
  std::map<PowerTree::LevelId, Sum> sums;
  for (const auto* each : offer.nodes) {
    const auto* node = tree.find(each->name);
    if (node == nullptr) continue;
    for (const auto level : tree.above(*node)) {
      auto& sum = sums[level];
      sum.draws += tree.expected(*node, offer.step->load);
      sum.idle += tree.expected(*node, 0);
      ++sum.nodes;
    }
  }
  std::optional<PowerTree::LevelId> worst;
  for (const auto& [id, sum] : sums) {
    const auto& level = tree.levels()[id];
    const bool over =
        sum.draws > sum.idle && sum.draws + level.idle - sum.idle > capacity_of(level);
    if (over && (!worst || level.kind > tree.levels()[*worst].kind)) worst = id;
  }
  if (!worst) return std::nullopt;
  const auto& level = tree.levels()[*worst];
  const auto& sum = sums.at(*worst);
  auto text = fmt::format("{} needs {} kW", words_of_nodes(offer), kilowatts(sum.draws));
  if (sum.nodes < level.nodes)
    text += fmt::format(" besides {} kW of {} idle node{}", kilowatts(level.idle - sum.idle),
                        level.nodes - sum.nodes, level.nodes - sum.nodes == 1 ? "" : "s");
  text += fmt::format(", {} carries {} kW", words_of(level), kilowatts(level.carries));
  if (capacity_of(level) < level.carries)
    text += fmt::format(", of which {} kW may be planned with", kilowatts(capacity_of(level)));
  return text;
}

std::optional<std::string> Dispatcher::State::impossible(const Offer& offer) const {
  if (auto why = too_many(offer)) return why;
  return offer.step->load > 0 ? too_much(offer) : std::nullopt;
}

std::optional<std::string> Dispatcher::impossible(const Offer& offer) const {
  return state_->impossible(offer);
}

std::string Dispatcher::State::why(const Entry& entry) const {
  if (entry.phase == Entry::Phase::never) return entry.never;
  if (entry.phase != Entry::Phase::parked) return "is looked at next";
  const auto& resource = resources[entry.at];
  const auto need = std::get<0>(entry.key);
  std::string text;
  switch (resource.kind) {
    case Resource::Kind::lock: {
      const auto& name = tree.name(resource.index);
      const auto holder = entries.find(resource.holder);
      return holder == entries.end() ? name + " is kept for another step"
                                     : name + " is busy with " + holder->second.offer.step->name;
    }
    case Resource::Kind::slots:
      text = fmt::format("{}: {} of {} taken", resource.name, resource.used, resource.capacity);
      break;
    case Resource::Kind::level: {
      const auto& level = tree.levels()[resource.index];
      text = fmt::format("{}: {} of {} kW taken, needs {} kW", words_of(level),
                         kilowatts(level.drawn), kilowatts(resource.capacity), kilowatts(need));
      break;
    }
    case Resource::Kind::ramp:
      return fmt::format("{}: another node's load has just begun",
                         words_of(tree.levels()[resource.index]));
  }
  if (need <= free(resource) && !resource.granted.empty()) {
    const auto& first = entries.at(resource.granted.front().ticket);
    text += fmt::format(", the rest is kept for {}", words_of(first.offer));
  }
  return text;
}

std::vector<Dispatcher::Blocked> Dispatcher::blocked() const {
  std::vector<Blocked> all;
  for (const auto& [ticket, entry] : state_->entries)
    if (entry.phase != Entry::Phase::running) all.push_back({ticket, state_->why(entry)});
  std::ranges::sort(all, {}, &Blocked::ticket);
  return all;
}

}  // namespace cupel::engine
