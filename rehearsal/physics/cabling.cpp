#include "rehearsal/physics/cabling.h"

#include <fmt/format.h>

#include <algorithm>

#include "inventory/fabric_rule.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"

namespace cupel::rehearsal {
namespace {

std::string cabling_key(std::string_view node, std::string_view hca) {
  return fmt::format("{}/{}", node, hca);
}

/// A profile that wants a rate of its ports has such ports; else their model says it.
double link_gbit(const inventory::Profile& profile, std::string_view model) {
  for (const auto& criterion : profile.criteria)
    if (criterion.measure == "ib.port.rate" && criterion.at_least) return *criterion.at_least;
  const bool hdr = model.contains("MT4123") || model.contains("ConnectX-6");
  return hdr ? 200 : 400;
}

/// The compute HCAs as the profile lists them; without a list all that it expects, so that an HCA
/// that is missing does not shift the others.
std::vector<std::string> rails_of(const inventory::Profile& profile) {
  if (!profile.rails.empty()) return profile.rails;
  std::vector<std::string> rails;
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::hca)
      for (int i = 0; i < parts.count; ++i) rails.push_back(fmt::format("mlx5_{}", i));
  return rails;
}

/// HCAs of nodes on switches of their own.
inventory::Fabric usual_fabric(const FabricPlan& plan,
                               const std::vector<inventory::FabricMember>& members, bool beside) {
  constexpr int kAnyPorts = 65535;
  inventory::FabricRule rule;
  rule.group = std::max(plan.nodes_of_group, 1);
  rule.spines = std::max(plan.spines, 1);
  rule.switch_ports = kAnyPorts;
  if (beside) {
    rule.leaf = "storage{group}-r{rail}";
    rule.spine = "storage-spine{spine}";
  }
  std::vector<inventory::Problem> problems;
  return make_fabric(rule, members, problems);
}

}  // namespace

FabricNode fabric_node(const Hardware& hardware, const inventory::Profile& profile) {
  FabricNode node{.name = hardware.node, .adapters = {}, .expected = rails_of(profile)};
  for (const auto& adapter : hardware.adapters) {
    if (!adapter.infiniband) continue;
    if (std::ranges::find(node.expected, adapter.name) == node.expected.end())
      node.expected.push_back(adapter.name);
    node.adapters.push_back(
        {.name = adapter.name, .guid = adapter.guid, .gbit = link_gbit(profile, adapter.model)});
  }
  return node;
}

Cabling::Cabling(const FabricPlan& plan) {
  if (plan.planned) add(*plan.planned);
  std::vector<inventory::FabricMember> rest;
  for (const auto& node : plan.nodes) {
    inventory::FabricMember member{node.name, {}};
    if (node.expected.empty())
      for (const auto& adapter : node.adapters) member.hcas.push_back(adapter.name);
    else
      member.hcas = node.expected;
    std::erase_if(member.hcas, [&](const auto& hca) { return port(node.name, hca).has_value(); });
    if (!member.hcas.empty()) rest.push_back(std::move(member));
  }
  if (!rest.empty()) add(usual_fabric(plan, rest, plan.planned != nullptr));
  for (auto& each : switches_) std::ranges::sort(each.node_ports);
}

std::size_t Cabling::number_of(const std::string& name) {
  const auto [at, fresh] = numbers_.try_emplace(name, switches_.size());
  if (fresh) switches_.push_back({.name = name});
  return at->second;
}

void Cabling::add(const inventory::Fabric& fabric) {
  for (const auto& one : fabric.switches)
    switches_[number_of(one.name)].ports_per_cage = std::max(one.ports_per_cage, 1);
  for (const auto& cable : fabric.cables) {
    const auto upper = number_of(cable.to.device);
    switches_[upper].last_port = std::max(switches_[upper].last_port, cable.to.port);
    if (cable.is_access()) {
      if (cable.from.port != 1) continue;  // a virtual HCA has one port
      const LeafPort at{upper, cable.to.port};
      const auto key = cabling_key(cable.from.device, cable.from.hca);
      if (ports_.try_emplace(key, at).second) switches_[upper].node_ports.push_back(at.port);
      continue;
    }
    auto& lower = switches_[number_of(cable.from.device)];
    lower.last_port = std::max(lower.last_port, cable.from.port);
    lower.uplinks.push_back({upper, cable.from.port, cable.to.port});
  }
}

std::optional<LeafPort> Cabling::port(std::string_view node, std::string_view hca) const {
  const auto found = ports_.find(cabling_key(node, hca));
  return found == ports_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<Cabling::Route> Cabling::route(std::size_t from, const LeafPort& to) const {
  const auto &up = switches_[from].uplinks, &down = switches_[to.leaf].uplinks;
  if (up.empty() || down.empty()) return std::nullopt;
  const auto& ports = switches_[to.leaf].node_ports;
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(ports, to.port) - ports.begin());
  for (std::size_t i = 0; i < up.size(); ++i) {
    const auto number = (place + i) % up.size();
    for (std::size_t k = 0; k < down.size(); ++k) {
      const auto back = (place + k) % down.size();
      if (down[back].spine == up[number].spine) return Route{number, back, up[number].spine};
    }
  }
  return std::nullopt;
}

std::vector<bool> Cabling::connected(std::size_t from) const {
  std::vector<std::vector<std::size_t>> next(switches_.size());
  for (std::size_t i = 0; i < switches_.size(); ++i)
    for (const auto& uplink : switches_[i].uplinks) {
      next[i].push_back(uplink.spine);
      next[uplink.spine].push_back(i);
    }
  std::vector<bool> reached(switches_.size());
  std::vector<std::size_t> open{from};
  reached[from] = true;
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    for (const auto to : next[at]) {
      if (reached[to]) continue;
      reached[to] = true;
      open.push_back(to);
    }
  }
  return reached;
}

std::string Cabling::uplink_name(std::size_t leaf, std::size_t uplink) const {
  const auto& own = switches_[leaf];
  const auto spine = own.uplinks[uplink].spine;
  const auto before =
      std::count_if(own.uplinks.begin(), own.uplinks.begin() + static_cast<std::ptrdiff_t>(uplink),
                    [&](const Uplink& each) { return each.spine == spine; });
  const auto name = fmt::format("{}/{}", own.name, switches_[spine].name);
  return before == 0 ? name : fmt::format("{}#{}", name, before + 1);
}

double SwitchCondition::of(std::size_t number) const {
  const auto found = switches.find(number);
  return found == switches.end() ? 1 : found->second;
}

SwitchCondition::Ways SwitchCondition::of(std::size_t leaf, std::size_t uplink) const {
  const auto found = uplinks.find({leaf, uplink});
  return found == uplinks.end() ? Ways{} : found->second;
}

}  // namespace cupel::rehearsal
