#include "burnin/fabric/lldp_cables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "burnin/script.h"
#include "inventory/port_names.h"

namespace cupel::burnin::fabric {
namespace {

using inventory::Cable;
using inventory::CableEnd;
using inventory::FabricMap;
using inventory::FabricSwitch;
using inventory::SeenDevice;

constexpr std::size_t kMostInterfaces = 256, kMostEthernetHcas = 64;

/// "leaf1-r1.site.example" is leaf1-r1 where the plan has that.
class SwitchNames {
 public:
  explicit SwitchNames(const inventory::Fabric& plan) {
    for (const auto& one : plan.switches) by_name_.try_emplace(lower_case(one.name), &one);
  }

  const FabricSwitch* find(std::string_view system) const {
    const auto whole = lower_case(system);
    auto found = by_name_.find(whole);
    if (found == by_name_.end()) found = by_name_.find(whole.substr(0, whole.find('.')));
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string, const FabricSwitch*> by_name_{};
};

/// How each switch of the plan counts its ports in their names, by those that were seen.
class PortNumbers {
 public:
  explicit PortNumbers(const inventory::Fabric& plan) : map_{plan} {}

  /// A name of a port of that switch, and what is at its other end.
  void add(const FabricSwitch& at, const std::string& name, CableEnd other) {
    if (inventory::is_port_name(name, at.ports_per_cage)) seen_[at.name][name] = std::move(other);
  }

  /// Of a neighbour between switches the other port's number is not known yet: its device decides.
  void decide() {
    for (const auto& [name, ports] : seen_) {
      const auto& at = *map_.find_switch(name);
      std::set<std::string> names;
      for (const auto& [port, other] : ports) names.insert(port);
      namings_[name] =
          inventory::naming_of(names, at.ports_per_cage, [&](const std::string& port, int counted) {
            const auto* cable = map_.cable_at({name, "", counted});
            if (cable == nullptr) return false;
            const auto& other = ports.at(port);
            const auto& planned =
                cable->to == CableEnd{name, "", counted} ? cable->from : cable->to;
            return planned.device == other.device && planned.hca == other.hca;
          });
    }
  }

  std::optional<int> port(const FabricSwitch& at, const std::string& name) const {
    const auto found = namings_.find(at.name);
    if (found == namings_.end() || !found->second) return std::nullopt;
    return inventory::port_of_name(name, at.ports_per_cage, *found->second);
  }

 private:
  FabricMap map_;
  std::map<std::string, std::map<std::string, CableEnd>> seen_{};  // by switch, by name of port
  std::map<std::string, std::optional<inventory::PortNaming>> namings_{};
};

constexpr std::string_view kCounts =
    "which port that is cannot be said: name the ports in the plan as the switch does, set "
    "ports_per_cage, or let the switch send its ports' aliases";

class LldpComparison {
 public:
  LldpComparison(const inventory::Fabric& plan, std::span<const EthernetNode> nodes)
      : plan_{plan}, map_{plan}, switches_{plan}, nodes_{nodes}, numbers_of_ports_{plan} {}

  Result<LldpAudit> compare() {
    for (const auto& node : nodes_)
      for (const auto& [name, interface] : node.interfaces) {
        const auto* seen = neighbour_of(node, name);
        const auto* at = seen == nullptr ? nullptr : switches_.find(seen->device);
        if (at != nullptr) numbers_of_ports_.add(*at, seen->remote, {node.node, interface.hca, 1});
      }
    numbers_of_ports_.decide();
    for (const auto& node : nodes_) add(node);
    if (links_ == 0) return Error{Code::kNoMeasurement, "LLDP: " + why_none()};
    made_.compared = {.switches = plan_.switches, .nodes = plan_.nodes, .cables = {}};
    for (const auto& cable : plan_.cables)
      if (cable.is_access() && compared_.contains(cable.from)) {
        made_.compared.cables.push_back(cable);
        // A switch shows by its nodes alone: without a link it is not absent.
        device(SeenDevice::Kind::switch_device, cable.to.device);
      }
    TRY(const auto seen, std::move(builder_).finish("lldpctl"));
    made_.audit = audit_fabric(made_.compared, seen);
    return std::move(made_);
  }

 private:
  std::string why_none() const {
    std::string all;
    constexpr std::size_t kShown = 3;
    for (const auto& node : nodes_.first(std::min(nodes_.size(), kShown)))
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", node.node,
                         node.why_none.empty() ? "no neighbour of its HCAs is a switch with a name"
                                               : node.why_none);
    return all;
  }

  void add(const EthernetNode& node) {
    if (!node.why_none.empty()) {
      made_.not_compared[node.node] = node.why_none;
      return;
    }
    std::set<std::string, std::less<>> linked;
    for (const auto& [name, interface] : node.interfaces)
      if (add_link(node, name, interface)) linked.insert(interface.hca);
    const auto* planned = map_.find_node(node.node);
    if (planned == nullptr) return;
    for (const auto& hca : planned->hcas) {
      const CableEnd end{node.node, hca, 1};
      const bool up = std::ranges::any_of(node.interfaces, [&](const auto& each) {
        return each.second.hca == hca && each.second.up;
      });
      if (linked.contains(hca) || !up)
        compared_.insert(end);
      else
        made_.undecided.try_emplace(end,
                                    "its port is up, and LLDP reports no switch at the other end: "
                                    "turn LLDP on there");
    }
  }

  /// Of several neighbours of a port the first that the plan has.
  const LldpNeighbour* neighbour_of(const EthernetNode& node, std::string_view name) const {
    const LldpNeighbour* chosen = nullptr;
    for (const auto& each : node.neighbours) {
      if (each.port != name || each.device.empty()) continue;
      const bool of_plan = switches_.find(each.device) != nullptr;
      if (chosen == nullptr || (of_plan && switches_.find(chosen->device) == nullptr))
        chosen = &each;
    }
    return chosen;
  }

  bool add_link(const EthernetNode& node, std::string_view name,
                const EthernetNode::Interface& interface) {
    const auto* chosen = neighbour_of(node, name);
    if (chosen == nullptr) return false;
    const auto* at = switches_.find(chosen->device);
    const auto port = at != nullptr ? numbers_of_ports_.port(*at, chosen->remote)
                                    : inventory::port_of_name(chosen->remote, 1);
    if (!port) {
      made_.undecided[{node.node, interface.hca, 1}] =
          fmt::format("LLDP reports port '{}' of {}; {}", chosen->remote, chosen->device, kCounts);
      return false;
    }
    const auto hca = device(SeenDevice::Kind::hca, node.node + " " + interface.hca);
    const auto other = device(SeenDevice::Kind::switch_device, at ? at->name : chosen->device);
    builder_.link({hca, 1}, {other, *port}, 0, "");
    ++links_;
    return true;
  }

  /// LLDP has no GUIDs: numbers in their place.
  std::size_t device(SeenDevice::Kind kind, const std::string& name) {
    const auto guid = numbers_.try_emplace(name, numbers_.size() + 1).first->second;
    return builder_.device(guid, kind, name, false);
  }

  const inventory::Fabric& plan_;
  FabricMap map_;
  SwitchNames switches_;
  std::span<const EthernetNode> nodes_;
  PortNumbers numbers_of_ports_;
  inventory::SeenFabricBuilder builder_{};
  std::map<std::string, std::uint64_t> numbers_{};
  std::set<CableEnd> compared_{};
  LldpAudit made_{};
  std::size_t links_ = 0;
};

class SwitchComparison {
 public:
  explicit SwitchComparison(const inventory::Fabric& plan)
      : plan_{plan}, switches_{plan}, numbers_of_ports_{plan} {}

  /// Before any add().
  void count(std::span<const SwitchNeighbours> switches) {
    for (const auto& reporter : switches)
      if (const auto* at = switches_.find(reporter.name))
        for (const auto& each : reporter.neighbours)
          if (const auto* other = switches_.find(each.device)) {
            numbers_of_ports_.add(*at, each.port, {other->name, "", 0});
            numbers_of_ports_.add(*other, each.remote, {at->name, "", 0});
          }
    numbers_of_ports_.decide();
  }

  void add(const SwitchNeighbours& reporter) {
    const auto* at = switches_.find(reporter.name);
    if (at == nullptr) {
      doubts_.push_back(fmt::format("{} is no switch of the plan", reporter.name));
      return;
    }
    // It may not speak LLDP: that proves nothing of its cables.
    if (reporter.neighbours.empty()) {
      doubts_.push_back(fmt::format(
          "{}: LLDP reports no neighbour: turn it on there, and run lldpctl -f json0 again",
          at->name));
      return;
    }
    reported_.insert(at->name);
    for (const auto& each : reporter.neighbours)
      if (const auto* other = switches_.find(each.device)) add_link(*at, *other, each);
  }

  Result<SwitchAudit> compare() {
    if (seen_.empty() && !unclear_.empty())
      return Error{Code::kNoMeasurement, "LLDP: " + doubts_.front()};
    if (seen_.empty())
      return Error{
          Code::kNoMeasurement,
          "LLDP: no switch sees another switch of the plan. Turn LLDP on at both ends, and "
          "run lldpctl -f json0 on the switches"};
    SwitchAudit made{.compared = {.switches = plan_.switches, .nodes = {}, .cables = {}}};
    for (const auto& cable : plan_.cables) {
      if (cable.is_access()) continue;
      const bool both =
          reported_.contains(cable.from.device) && reported_.contains(cable.to.device);
      const bool known = seen_.contains(cable.from) || seen_.contains(cable.to);
      const bool unclear = unclear_.contains(std::minmax(cable.from.device, cable.to.device));
      if (!known && (!both || unclear)) continue;
      made.compared.cables.push_back(cable);
      // Without a link it is not absent: it may be one that did not report.
      device(cable.from.device);
      device(cable.to.device);
    }
    for (auto& doubt : doubts_) builder_.doubt(std::move(doubt));
    TRY(const auto seen, std::move(builder_).finish("lldpctl"));
    made.audit = audit_fabric(made.compared, seen);
    return made;
  }

 private:
  void add_link(const FabricSwitch& at, const FabricSwitch& other, const LldpNeighbour& seen) {
    const auto port = numbers_of_ports_.port(at, seen.port);
    const auto remote = numbers_of_ports_.port(other, seen.remote);
    if (!port || !remote) {
      unclear_.insert(std::minmax(at.name, other.name));
      doubts_.push_back(fmt::format("{} port '{}' - {} port '{}': {}", at.name, seen.port,
                                    other.name, seen.remote, kCounts));
      return;
    }
    // Both ends report a cable.
    seen_.insert({other.name, "", *remote});
    if (!links_.insert(std::minmax(std::pair{at.name, *port}, std::pair{other.name, *remote}))
             .second)
      return;
    seen_.insert({at.name, "", *port});
    builder_.link({device(at.name), *port}, {device(other.name), *remote}, 0, "");
  }

  std::size_t device(const std::string& name) {
    const auto guid = numbers_.try_emplace(name, numbers_.size() + 1).first->second;
    return builder_.device(guid, SeenDevice::Kind::switch_device, name, false);
  }

  using End = std::pair<std::string, int>;

  const inventory::Fabric& plan_;
  SwitchNames switches_;
  inventory::SeenFabricBuilder builder_{};
  std::map<std::string, std::uint64_t> numbers_{};
  PortNumbers numbers_of_ports_;
  std::set<std::string> reported_{};
  std::set<std::pair<std::string, std::string>> unclear_{};  // switches with a cable of no number
  std::set<CableEnd> seen_{};
  std::set<std::pair<End, End>> links_{};
  std::vector<std::string> doubts_{};
};

}  // namespace

std::optional<EthernetNode> read_ethernet(std::string_view node, const Output& output) {
  EthernetNode found{.node = std::string{node}};
  for (const auto line : lines(output.text)) {
    const auto parts = words(line);
    if (parts.size() == 2 && parts[0] == "ethernet" && found.hcas.size() < kMostEthernetHcas)
      found.hcas.push_back(script::clean(parts[1]));
    if (parts.size() == 4 && parts[0] == "net" && found.interfaces.size() < kMostInterfaces)
      found.interfaces[script::clean(parts[2])] = {script::clean(parts[1]), parts[3] == "up"};
  }
  if (found.hcas.empty()) return std::nullopt;
  if (const auto why = script::after_mark(output, "cupel-no-lldp: "))
    found.why_none = script::clean(*why);
  for (const auto& section : script::sections(output.text)) {
    if (section.name != "lldp" || !section.whole) continue;
    auto neighbours = parse_lldpctl(section.text);
    if (neighbours)
      found.neighbours = *std::move(neighbours);
    else
      found.why_none = neighbours.error().what;
  }
  if (found.neighbours.empty() && found.why_none.empty()) found.why_none = "lldpctl did not end";
  return found;
}

bool is_ethernet(const inventory::Fabric& plan, std::span<const std::string> reported,
                 std::span<const EthernetNode> nodes) {
  const FabricMap map{plan};
  std::size_t planned = 0, ethernet = 0;
  for (const auto& name : reported)
    if (const auto* node = map.find_node(name)) planned += node->hcas.size();
  for (const auto& each : nodes)
    if (const auto* node = map.find_node(each.node))
      for (const auto& hca : node->hcas)
        ethernet += static_cast<std::size_t>(std::ranges::count(each.hcas, hca));
  return 2 * ethernet > planned;
}

Result<LldpAudit> audit_by_lldp(const inventory::Fabric& plan,
                                std::span<const EthernetNode> nodes) {
  return LldpComparison{plan, nodes}.compare();
}

Result<SwitchAudit> audit_switches_by_lldp(const inventory::Fabric& plan,
                                           std::span<const SwitchNeighbours> switches) {
  SwitchComparison comparison{plan};
  comparison.count(switches);
  for (const auto& each : switches) comparison.add(each);
  return comparison.compare();
}

}  // namespace cupel::burnin::fabric
