#include "rehearsal/physics/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {
namespace {

constexpr std::uint16_t kManagerLid = 1;
constexpr double kHour = 3600;
constexpr double kBitsOfAWord = 32;
constexpr double kBytesOfAPacket = 4096 + 30;  // MTU 4096 and its headers

std::string key_of(std::string_view node, std::string_view adapter) {
  return fmt::format("{}/{}", node, adapter);
}

std::string_view speed_of(double gbit) {
  return gbit >= 800 ? "XDR" : gbit >= 400 ? "NDR" : gbit >= 200 ? "HDR" : "EDR";
}

/// What corrupt symbols cost: packets that are sent again.
double share_left(double errors_an_hour) {
  constexpr double kHalved = 200000, kWorst = 0.5;
  return std::max(1 - errors_an_hour / kHalved, kWorst);
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

}  // namespace

FabricNode fabric_node(const Hardware& hardware, const inventory::Profile& profile) {
  FabricNode node{.name = hardware.node, .adapters = {}};
  const auto rails = rails_of(profile);
  int other = static_cast<int>(rails.size());  // HCAs of no rail have leaves of their own
  for (const auto& adapter : hardware.adapters) {
    if (!adapter.infiniband) continue;
    const auto listed = std::ranges::find(rails, adapter.name);
    const int rail = listed == rails.end() ? other++ : static_cast<int>(listed - rails.begin());
    node.adapters.push_back({.name = adapter.name,
                             .guid = adapter.guid,
                             .gbit = link_gbit(profile, adapter.model),
                             .rail = rail});
  }
  return node;
}

Fabric::Fabric(FabricPlan plan, std::uint64_t seed) : plan_{std::move(plan)}, seed_{seed} {
  plan_.nodes_of_group = std::max(plan_.nodes_of_group, 1);
  plan_.spines = std::max(plan_.spines, 1);
  add_ports();
}

void Fabric::add_ports() {
  // LIDs of switches come first, as a subnet manager that starts with itself gives them.
  std::uint16_t lid = 1000;
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    const auto& node = plan_.nodes[i];
    const int place = static_cast<int>(i);
    on_[node.name] = false;
    int rails = 1;
    for (std::size_t k = 0; k < node.adapters.size(); ++k)
      rails = std::max(rails, node.adapters[k].rail.value_or(static_cast<int>(k)) + 1);
    for (std::size_t k = 0; k < node.adapters.size(); ++k) {
      const auto& adapter = node.adapters[k];
      const auto draw = Draw{seed_}.of("port").of(node.name).of(adapter.name);
      Port port{.node = node.name,
                .name = adapter.name,
                .guid = adapter.guid,
                .gbit = adapter.gbit,
                .spread = std::min(draw.spread(0.002) - 0.003, 1.0),
                .group = place / plan_.nodes_of_group,
                .rail = adapter.rail.value_or(static_cast<int>(k)),
                .rails = rails,
                .place = place % plan_.nodes_of_group + 1,
                .lid = lid++};
      port.now_gbit = port.gbit;
      port.cabled_rail = port.rail;
      port.cabled_port = port.place;
      index_.try_emplace(key_of(node.name, adapter.name), ports_.size());
      ports_.push_back(std::move(port));
    }
  }
}

std::optional<std::size_t> Fabric::index_of(std::string_view node, std::string_view adapter) const {
  const auto found = index_.find(key_of(node, adapter));
  return found == index_.end() ? std::nullopt : std::optional{found->second};
}

const Fabric::Port* Fabric::find(std::string_view node, std::string_view adapter) const {
  const auto index = index_of(node, adapter);
  return index ? &ports_[*index] : nullptr;
}

bool Fabric::up(const Port& port) const {
  return on_.find(port.node)->second && !port.down && !port.ethernet;
}

std::string Fabric::leaf_of(const Port& port) const {
  return fmt::format("leaf{}-r{}", port.group + 1, port.cabled_rail);
}

/// One fault of one port, as fault.h has it.
void Fabric::ail(Port& port, const Fault& fault) {
  constexpr double kUsualErrors = 3600, kBadPort = 0.5, kBadUplink = 0.5;
  const double errors = fault.errors.value_or(static_cast<int>(kUsualErrors));
  switch (fault.kind) {
    case FaultKind::hca_slow:
      port.now_gbit = std::min(port.now_gbit, fault.amount.value_or(port.gbit / 2));
      break;
    case FaultKind::hca_down:
    case FaultKind::hca_flapping:  // it is among the faults while the link is down
    case FaultKind::hca_missing:
      port.down = true;
      break;
    case FaultKind::hca_ethernet:
      port.ethernet = true;
      break;
    case FaultKind::hca_errors:
      port.symbols_an_hour += errors;
      port.share *= share_left(errors);
      break;
    case FaultKind::leaf_port_bad:
      port.share *= fault.amount.value_or(kBadPort);
      port.receive_an_hour += kUsualErrors;
      break;
    case FaultKind::wrong_rail:
      port.cabled_rail = (port.rail + 1) % port.rails;
      port.cabled_port = plan_.nodes_of_group + 1;  // one that was free
      break;
    case FaultKind::cables_swapped:
      if (const auto* other = find(port.node, fault.other)) {
        port.cabled_rail = other->rail;
        port.cabled_port = other->place;
      }
      break;
    case FaultKind::spine_degraded: {
      const int spine = std::max(fault.number.value_or(0), 0) % plan_.spines;
      auto& share = uplinks_.try_emplace(fmt::format("{}/spine{}", leaf_of(port), spine + 1), 1.0)
                        .first->second;
      share *= fault.amount.value_or(kBadUplink);
      break;
    }
    default:
      break;
  }
}

/// After anything has changed: where cables go, which links are up, what is counted from now on.
void Fabric::settle(VirtualTime at) {
  uplinks_.clear();
  for (auto& port : ports_) {
    port.now_gbit = port.gbit;
    port.share = 1;
    port.down = port.ethernet = false;
    port.cabled_rail = port.rail;
    port.cabled_port = port.place;
    port.symbols_an_hour = port.receive_an_hour = 0;
  }
  for (const auto& [node, faults] : faults_)
    for (const auto& fault : faults) {
      if (const auto mine = index_of(node, fault.part)) ail(ports_[*mine], fault);
      // Both ends of a swap: who says it of one cable means the other too.
      if (fault.kind != FaultKind::cables_swapped) continue;
      auto back = fault;
      std::swap(back.part, back.other);
      if (const auto other = index_of(node, back.part)) ail(ports_[*other], back);
    }
  std::vector<double> out(ports_.size()), in(ports_.size());
  for (const auto& [id, flow] : flows_) {
    const double gbit = between(ports_[flow.from], ports_[flow.to]);
    out[flow.from] += gbit * 1e9 / kBitsOfAWord;
    in[flow.to] += gbit * 1e9 / kBitsOfAWord;
  }
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    count(ports_[i], at);
    ports_[i].words_out.rate(out[i], at.count());
    ports_[i].words_in.rate(in[i], at.count());
  }
}

/// From now on.
void Fabric::count(Port& port, VirtualTime at) {
  const bool is_up = up(port);
  if (port.was_up && !is_up && on_.find(port.node)->second) ++port.downed;
  port.was_up = is_up;
  port.symbols.rate(is_up ? port.symbols_an_hour / kHour : 0, at.count());
  port.receives.rate(is_up ? port.receive_an_hour / kHour : 0, at.count());
}

void Fabric::set_faults(const std::string& node, const std::vector<Fault>& faults, VirtualTime at) {
  constexpr auto of_links = [](const Fault& fault) {
    return fault.kind >= FaultKind::hca_missing && fault.kind <= FaultKind::spine_degraded;
  };
  std::vector<Fault> mine;
  std::ranges::copy_if(faults, std::back_inserter(mine), of_links);
  auto& known = faults_[node];
  if (known == mine) return;
  known = std::move(mine);
  settle(at);
}

void Fabric::set_power(const std::string& node, bool on, VirtualTime at) {
  const auto found = on_.find(node);
  if (found == on_.end() || found->second == on) return;
  found->second = on;
  if (!flows_.empty()) return settle(at);
  const auto& nodes = plan_.nodes;
  const auto mine = std::ranges::find(nodes, node, &FabricNode::name);
  for (const auto& adapter : mine->adapters) count(ports_[*index_of(node, adapter.name)], at);
}

FlowId Fabric::begin_flow(std::string_view node, std::string_view adapter, std::string_view other,
                          std::string_view other_adapter, VirtualTime at) {
  const FlowId id{next_++};
  const auto from = index_of(node, adapter), to = index_of(other, other_adapter);
  if (!from || !to) return id;
  flows_.emplace(id, Flow{*from, *to});
  settle(at);
  return id;
}

void Fabric::end_flow(FlowId id, VirtualTime at) {
  if (flows_.erase(id) > 0) settle(at);
}

std::vector<std::string> Fabric::links(const Port& from, const Port& to) const {
  std::vector<std::string> crossed{key_of(from.node, from.name)};
  const auto one = leaf_of(from), other = leaf_of(to);
  if (one != other) {
    // Each leaf sends what is for one LID up the same way.
    const auto spine = fmt::format("/spine{}", to.lid % plan_.spines + 1);
    crossed.push_back(one + spine);
    crossed.push_back(other + spine);
  }
  crossed.push_back(key_of(to.node, to.name));
  return crossed;
}

double Fabric::between(const Port& from, const Port& to) const {
  if (&from == &to || !up(from) || !up(to)) return 0;
  const auto of_port = [](const Port& port) { return port.now_gbit * port.share * port.spread; };
  double slowest = std::min(of_port(from), of_port(to));
  for (const auto& link : links(from, to))
    if (const auto found = uplinks_.find(link); found != uplinks_.end())
      slowest = std::min(slowest, std::min(from.gbit, to.gbit) * found->second);
  return slowest;
}

double Fabric::gbit_between(std::string_view node, std::string_view adapter, std::string_view other,
                            std::string_view other_adapter, VirtualTime at) const {
  constexpr double kUnsteady = 0.001, kMinute = 60;
  const auto *from = find(node, adapter), *to = find(other, other_adapter);
  if (!from || !to) return 0;
  const auto minute = static_cast<std::uint64_t>(std::max(at.count(), 0.0) / kMinute);
  const auto draw = Draw{seed_}.of("path").of(from->lid).of(to->lid).of(minute);
  return between(*from, *to) * (1 - kUnsteady * draw.uniform());
}

std::vector<std::string> Fabric::path(std::string_view node, std::string_view adapter,
                                      std::string_view other,
                                      std::string_view other_adapter) const {
  const auto *from = find(node, adapter), *to = find(other, other_adapter);
  if (!from || !to || from == to || !up(*from) || !up(*to)) return {};
  return links(*from, *to);
}

std::optional<PortReading> Fabric::port(std::string_view node, std::string_view adapter,
                                        VirtualTime at) const {
  const auto* port = find(node, adapter);
  if (!port) return std::nullopt;
  const bool is_up = up(*port);
  PortReading reading{.gbit = port->now_gbit,
                      .speed = std::string{speed_of(port->now_gbit)},
                      .guid = port->guid,
                      .cable = fmt::format("{}--leaf{}-r{}/p{}", key_of(port->node, port->name),
                                           port->group + 1, port->rail, port->place)};
  if (port->ethernet) {
    reading.link_layer = "Ethernet";
    return reading;
  }
  const auto draw = Draw{seed_}.of("port").of(port->node).of(port->name);
  auto& counters = reading.counters;
  counters.symbol_errors = events_until(draw.of("symbols"), port->symbols.until(at.count()));
  counters.receive_errors = events_until(draw.of("receives"), port->receives.until(at.count()));
  counters.local_integrity_errors = counters.receive_errors / 16;
  counters.link_downed = port->downed;
  counters.link_recoveries = port->downed + counters.symbol_errors / 4096;
  counters.transmit_data = static_cast<std::uint64_t>(port->words_out.until(at.count()));
  counters.receive_data = static_cast<std::uint64_t>(port->words_in.until(at.count()));
  const auto packets = [](std::uint64_t words) {
    return static_cast<std::uint64_t>(static_cast<double>(words) * 4 / kBytesOfAPacket);
  };
  counters.transmit_packets = packets(counters.transmit_data);
  counters.receive_packets = packets(counters.receive_data);
  if (!is_up) return reading;
  reading.state = PortState::active;
  reading.physical = PhysicalState::link_up;
  reading.lid = port->lid;
  reading.sm_lid = kManagerLid;
  reading.peer = leaf_of(*port);
  reading.peer_port = port->cabled_port;
  reading.peer_lid = static_cast<std::uint16_t>(2 + port->group * port->rails + port->cabled_rail);
  reading.peer_guid =
      fmt::format("b0cf:0e{:02x}:{:04x}:{:04x}", Draw{seed_}.of(reading.peer).bits() & 0xff,
                  port->group, port->cabled_rail);
  return reading;
}

}  // namespace cupel::rehearsal
