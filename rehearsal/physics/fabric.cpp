#include "rehearsal/physics/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {
namespace {

constexpr std::uint16_t kManagerLid = 1;
constexpr double kHour = 3600;

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

/// What a PCIe link of this generation and width carries of an HCA's rate.
/// Source: PCIe 3.0 to 6.0: 8, 16, 32 and 64 GT/s a lane; a seventh goes to headers and credits.
double pcie_gbit(int gen, int width) {
  constexpr std::array<double, 7> kLane{0, 2, 4, 8, 16, 32, 64};
  constexpr double kPayload = 0.86;
  return kLane[static_cast<std::size_t>(std::clamp(gen, 1, 6))] * width * kPayload;
}

std::uint16_t lid_of(std::size_t number) { return static_cast<std::uint16_t>(2 + number); }

/// Which of so many uplinks of the leaf.
std::size_t uplink_number(const Fault& fault, std::size_t count) {
  return static_cast<std::size_t>(std::max(fault.number.value_or(0), 0)) % count;
}

/// 1 both ways, or in the way that the fault names.
bool goes_out(const Fault& fault) { return fault.other != "in"; }
bool goes_in(const Fault& fault) { return fault.other != "out"; }

}  // namespace

Fabric::Fabric(FabricPlan plan, std::uint64_t seed)
    : plan_{std::move(plan)}, cabling_{plan_}, seed_{seed} {
  add_ports();
}

void Fabric::add_ports() {
  // LIDs of switches come first, as a subnet manager that starts with itself gives them.
  std::uint16_t lid = 1000;
  for (const auto& node : plan_.nodes) {
    on_[node.name] = false;
    for (const auto& adapter : node.adapters) {
      const auto draw = Draw{seed_}.shaped(plan_.spread).of("port").of(node.name).of(adapter.name);
      Port port{.node = node.name,
                .name = adapter.name,
                .guid = adapter.guid,
                .gbit = adapter.gbit,
                .spread = std::min(draw.spread(0.002) - 0.003, 1.0),
                .planned = cabling_.port(node.name, adapter.name).value_or(LeafPort{}),
                .lid = lid++};
      port.now_gbit = port.gbit;
      port.cabled = port.planned;
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

/// One fault of one port, as fault.h has it.
void Fabric::ail(Port& port, const Fault& fault) {
  constexpr double kUsualErrors = 3600, kHalf = 0.5;
  const double errors = fault.errors.value_or(static_cast<int>(kUsualErrors));
  const auto lose = [&](double share) {
    if (goes_out(fault)) port.out *= share;
    if (goes_in(fault)) port.in *= share;
  };
  switch (fault.kind) {
    case FaultKind::hca_slow:
      port.now_gbit = std::min(port.now_gbit, fault.amount.value_or(port.gbit / 2));
      break;
    case FaultKind::hca_slow_link:
      lose(std::min(1.0, pcie_gbit(fault.gen.value_or(5), fault.width.value_or(16)) / port.gbit));
      break;
    case FaultKind::hca_down:
    case FaultKind::hca_flapping:  // it is among the faults while the link is down
    case FaultKind::hca_missing:
      port.down = true;
      break;
    case FaultKind::hca_ethernet:
      port.ethernet = true;
      break;
    case FaultKind::hca_blocked:
      port.blocked = true;
      break;
    case FaultKind::hca_errors:
      port.symbols_an_hour += errors;
      lose(share_left(errors));
      break;
    case FaultKind::cable_slow:
    case FaultKind::node_slow:
    case FaultKind::cage_bad:
      lose(fault.amount.value_or(kHalf));
      break;
    case FaultKind::cable_loses_packets: {
      constexpr int kUsualLosses = 60;
      const double a_minute = fault.errors.value_or(kUsualLosses);
      if (goes_out(fault)) port.lost_out += a_minute;
      if (goes_in(fault)) port.lost_in += a_minute;
      break;
    }
    case FaultKind::leaf_port_bad:
      lose(fault.amount.value_or(kHalf));
      port.receive_an_hour += kUsualErrors;
      break;
    default:
      break;
  }
}

/// What is behind the port's leaf port: its leaf, an uplink of it, a spine.
void Fabric::ail_switches(const Port& port, const Fault& fault) {
  constexpr double kHalf = 0.5;
  const double left = fault.amount.value_or(kHalf);
  const auto leaf = port.planned.leaf;
  const auto& uplinks = cabling_.at(leaf).uplinks;
  const auto lose = [&](std::size_t number) {
    condition_.switches.try_emplace(number, 1.0).first->second *= left;
  };
  if (fault.kind == FaultKind::leaf_slow) lose(leaf);
  if (uplinks.empty()) return;
  const auto uplink = uplink_number(fault, uplinks.size());
  if (fault.kind == FaultKind::spine_slow) lose(uplinks[uplink].spine);
  if (fault.kind != FaultKind::uplink_slow) return;
  auto& ways = condition_.uplinks[{leaf, uplink}];
  if (goes_out(fault)) ways.out *= left;
  if (goes_in(fault)) ways.in *= left;
}

/// Where the cable is in truth.
void Fabric::recable(Port& port, const Fault& fault) {
  if (fault.kind == FaultKind::cables_swapped) {
    if (const auto* other = find(port.node, fault.other)) port.cabled = other->planned;
  } else if (fault.kind == FaultKind::cables_crossed) {
    if (const auto* other = find(fault.other, port.name)) port.cabled = other->planned;
  } else if (fault.kind == FaultKind::uplink_exchanged) {
    const auto leaf = port.planned.leaf;
    const auto& uplinks = cabling_.at(leaf).uplinks;
    if (uplinks.empty()) return;
    const auto uplink = uplink_number(fault, uplinks.size());
    port.cabled.port = uplinks[uplink].port;
    condition_.uplinks[{leaf, uplink}].port = port.planned.port;
  } else if (fault.kind == FaultKind::wrong_rail) {
    // To the leaf of the node's next HCA, into a port that is free.
    const auto& mine = std::ranges::find(plan_.nodes, port.node, &FabricNode::name)->adapters;
    const auto at = std::ranges::find(mine, port.name, &FabricAdapter::name) - mine.begin();
    for (std::size_t i = 1; i < mine.size(); ++i) {
      const auto& name = mine[(static_cast<std::size_t>(at) + i) % mine.size()].name;
      const auto leaf = find(port.node, name)->planned.leaf;
      if (leaf == port.planned.leaf) continue;
      port.cabled = {leaf, cabling_.at(leaf).last_port + port.planned.port};
      return;
    }
  }
}

void Fabric::plant(const std::string& node, const Fault& fault) {
  const auto mine = index_of(node, fault.part);
  if (mine) {
    ail(ports_[*mine], fault);
    ail_switches(ports_[*mine], fault);
    recable(ports_[*mine], fault);
  }
  // Both ends of an exchange: who says it of one cable means the other too.
  auto back = fault;
  if (fault.kind == FaultKind::cables_swapped) {
    std::swap(back.part, back.other);
    if (const auto other = index_of(node, back.part)) recable(ports_[*other], back);
  } else if (fault.kind == FaultKind::cables_crossed) {
    back.other = node;
    if (const auto other = index_of(fault.other, back.part)) recable(ports_[*other], back);
  } else if (fault.kind == FaultKind::pair_slow) {
    constexpr double kHalf = 0.5;
    const auto other = index_of(fault.other, fault.part);
    if (mine && other) pairs_[std::minmax(*mine, *other)] = fault.amount.value_or(kHalf);
  } else if (fault.kind == FaultKind::node_slow) {
    for (auto& port : ports_)
      if (port.node == node) ail(port, fault);
  } else if (fault.kind == FaultKind::cage_bad && mine) {
    const auto home = ports_[*mine].planned;
    const int cage = cabling_.at(home.leaf).ports_per_cage;
    for (auto& port : ports_) {
      const bool beside = &port != &ports_[*mine] && port.planned.leaf == home.leaf;
      if (beside && (port.planned.port - 1) / cage == (home.port - 1) / cage) ail(port, fault);
    }
  }
}

/// After anything has changed: where cables go, which links are up, what is counted from now on.
void Fabric::settle(VirtualTime at) {
  condition_ = {};
  pairs_.clear();
  for (auto& port : ports_) {
    port.now_gbit = port.gbit;
    port.out = port.in = 1;
    port.down = port.ethernet = port.blocked = false;
    port.cabled = port.planned;
    port.symbols_an_hour = port.receive_an_hour = 0;
    port.lost_out = port.lost_in = 0;
  }
  for (const auto& [node, faults] : faults_)
    for (const auto& fault : faults) plant(node, fault);
  for (auto& port : ports_) count(port, at);
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
    return fault.kind >= FaultKind::hca_missing && fault.kind <= FaultKind::uplink_slow;
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
  const auto& nodes = plan_.nodes;
  const auto mine = std::ranges::find(nodes, node, &FabricNode::name);
  for (const auto& adapter : mine->adapters) count(ports_[*index_of(node, adapter.name)], at);
}

void Fabric::stream(std::string_view node, std::string_view adapter, std::string_view other,
                    std::string_view other_adapter, VirtualTime length) {
  const auto from = index_of(node, adapter), to = index_of(other, other_adapter);
  if (!from || !to || *from == *to) return;
  auto &sender = ports_[*from], &receiver = ports_[*to];
  const auto lost = [&](const Port& port, std::string_view way, double a_minute, double& exposure) {
    constexpr double kMinute = 60;
    const auto draw = Draw{seed_}.of("lost").of(way).of(port.node).of(port.name);
    const auto before = events_until(draw, exposure);
    exposure += a_minute * length.count() / kMinute;
    return events_until(draw, exposure) - before;
  };
  const auto packets = lost(sender, "out", sender.lost_out, sender.out_losses) +
                       lost(receiver, "in", receiver.lost_in, receiver.in_losses);
  sender.sequence_naks += packets;
  receiver.out_of_order += packets;
}

/// Where the uplink's plug is now.
int Fabric::leaf_port(std::size_t leaf, std::size_t uplink) const {
  return condition_.of(leaf, uplink).port.value_or(cabling_.at(leaf).uplinks[uplink].port);
}

/// Both ends of the cable.
void Fabric::count_uplink(std::size_t leaf, std::size_t uplink, std::uint64_t words, bool goes_up) {
  const auto& cable = cabling_.at(leaf).uplinks[uplink];
  auto &below = traffic_[{leaf, leaf_port(leaf, uplink)}],
       &above = traffic_[{cable.spine, cable.spine_port}];
  (goes_up ? below : above).sent += words;
  (goes_up ? above : below).received += words;
}

void Fabric::carry(std::string_view node, std::string_view adapter, std::string_view other,
                   std::string_view other_adapter, double bytes) {
  constexpr double kWord = 4;
  const auto *from = find(node, adapter), *to = find(other, other_adapter);
  if (from == nullptr || to == nullptr || from == to || !up(*from) || !up(*to) || bytes <= 0)
    return;
  const auto words = static_cast<std::uint64_t>(bytes / kWord);
  traffic_[{from->cabled.leaf, from->cabled.port}].received += words;
  traffic_[{to->cabled.leaf, to->cabled.port}].sent += words;
  if (from->cabled.leaf == to->cabled.leaf) return;
  if (plan_.adaptive) {
    for (const bool goes_up : {true, false}) {
      const auto leaf = goes_up ? from->cabled.leaf : to->cabled.leaf;
      const auto uplinks = cabling_.at(leaf).uplinks.size();
      for (std::size_t i = 0; i < uplinks; ++i) count_uplink(leaf, i, words / uplinks, goes_up);
    }
    return;
  }
  const auto route = cabling_.route(from->cabled.leaf, to->cabled);
  if (!route) return;
  count_uplink(from->cabled.leaf, route->up, words, true);
  count_uplink(to->cabled.leaf, route->down, words, false);
}

std::optional<SwitchPort> Fabric::switch_port(std::string_view node, std::string_view adapter,
                                              std::uint16_t lid, int port) const {
  const auto* from = find(node, adapter);
  if (from == nullptr || !up(*from)) return std::nullopt;
  const auto reached = cabling_.connected(from->cabled.leaf);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i] || lid_of(i) != lid || port < 1 || port > cabling_.at(i).last_port) continue;
    const auto at = traffic_.find({i, port});
    return at == traffic_.end() ? SwitchPort{} : at->second;
  }
  return std::nullopt;
}

std::vector<std::string> Fabric::links(const Port& from, const Port& to) const {
  std::vector<std::string> crossed{key_of(from.node, from.name)};
  if (from.cabled.leaf != to.cabled.leaf) {
    const auto route = cabling_.route(from.cabled.leaf, to.cabled);
    if (!route) return {};
    crossed.push_back(cabling_.uplink_name(from.cabled.leaf, route->up));
    crossed.push_back(cabling_.uplink_name(to.cabled.leaf, route->down));
  }
  crossed.push_back(key_of(to.node, to.name));
  return crossed;
}

/// The share of its rate that leaves, uplinks and spines leave of a stream; nothing where no way
/// leads from leaf to leaf.
std::optional<double> Fabric::of_switches(const Port& from, const Port& to) const {
  const auto one = from.cabled.leaf, other = to.cabled.leaf;
  if (one == other) return condition_.of(one);
  const auto route = cabling_.route(one, to.cabled);
  if (!route) return std::nullopt;
  const double of_leaves = std::min(condition_.of(one), condition_.of(other));
  if (!plan_.adaptive)
    return std::min({of_leaves, condition_.of(one, route->up).out, condition_.of(route->spine),
                     condition_.of(other, route->down).in});
  // An equal share over each uplink: each takes away what it loses of its own share.
  const auto spread = [&](std::size_t leaf, bool out) {
    const auto& uplinks = cabling_.at(leaf).uplinks;
    double all = 0;
    for (std::size_t i = 0; i < uplinks.size(); ++i) {
      const auto ways = condition_.of(leaf, i);
      all += std::min(out ? ways.out : ways.in, condition_.of(uplinks[i].spine));
    }
    return all / static_cast<double>(uplinks.size());
  };
  return std::min({of_leaves, spread(one, true), spread(other, false)});
}

/// What is left of what two ports exchange alone.
double Fabric::of_pair(const Port& from, const Port& to) const {
  const auto number = [&](const Port& port) {
    return static_cast<std::size_t>(&port - ports_.data());
  };
  const auto found = pairs_.find(std::minmax({number(from), number(to)}));
  return found == pairs_.end() ? 1 : found->second;
}

double Fabric::between(const Port& from, const Port& to) const {
  if (&from == &to || !up(from) || !up(to) || from.blocked || to.blocked) return 0;
  const auto on_the_way = of_switches(from, to);
  if (!on_the_way) return 0;
  return std::min({from.now_gbit * from.out * from.spread, to.now_gbit * to.in * to.spread,
                   std::min(from.gbit, to.gbit) * std::min(*on_the_way, of_pair(from, to))});
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

std::string Fabric::guid_of(std::size_t number) const {
  return fmt::format("b0cf:0e{:02x}:{:04x}:{:04x}",
                     Draw{seed_}.of(cabling_.at(number).name).bits() & 0xff, number >> 8,
                     number & 0xff);
}

std::vector<SeenSwitch> Fabric::discover(std::string_view node, std::string_view adapter) const {
  constexpr std::string_view kSpeed = "NDR";
  const auto* from = find(node, adapter);
  if (from == nullptr || !up(*from)) return {};
  const auto& all = cabling_.switches();
  std::vector<SeenSwitch> seen(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    seen[i] = {.name = all[i].name, .guid = guid_of(i), .lid = lid_of(i)};
  for (std::size_t leaf = 0; leaf < all.size(); ++leaf)
    for (std::size_t k = 0; k < all[leaf].uplinks.size(); ++k) {
      const auto& uplink = all[leaf].uplinks[k];
      const int below = leaf_port(leaf, k);
      const auto link = [&](int port, std::size_t to, int far_port) {
        return SeenSwitch::Link{.port = port,
                                .to_switch = true,
                                .guid = guid_of(to),
                                .name = all[to].name,
                                .far_port = far_port,
                                .lid = lid_of(to),
                                .speed = std::string{kSpeed}};
      };
      seen[leaf].links.push_back(link(below, uplink.spine, uplink.spine_port));
      seen[uplink.spine].links.push_back(link(uplink.spine_port, leaf, below));
    }
  for (const auto& port : ports_)
    if (up(port))
      seen[port.cabled.leaf].links.push_back({.port = port.cabled.port,
                                              .guid = port.guid,
                                              .name = fmt::format("{} {}", port.node, port.name),
                                              .lid = port.lid,
                                              .speed = std::string{speed_of(port.now_gbit)}});
  const auto connected = cabling_.connected(from->cabled.leaf);
  std::vector<SeenSwitch> found;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (connected[i]) found.push_back(std::move(seen[i]));
  for (auto& each : found) std::ranges::sort(each.links, {}, &SeenSwitch::Link::port);
  return found;
}

std::optional<PortReading> Fabric::port(std::string_view node, std::string_view adapter,
                                        VirtualTime at) const {
  const auto* port = find(node, adapter);
  if (!port) return std::nullopt;
  const bool is_up = up(*port);
  PortReading reading{
      .gbit = port->now_gbit,
      .speed = std::string{speed_of(port->now_gbit)},
      .guid = port->guid,
      .cable = fmt::format("{}--{}/p{}", key_of(port->node, port->name),
                           cabling_.at(port->planned.leaf).name, port->planned.port)};
  if (port->ethernet) {
    reading.link_layer = "Ethernet";
    return reading;
  }
  const auto draw = Draw{seed_}.of("port").of(port->node).of(port->name);
  auto& counters = reading.counters;
  counters.symbol_errors = events_until(draw.of("symbols"), port->symbols.until(at.count()));
  counters.receive_errors = events_until(draw.of("receives"), port->receives.until(at.count()));
  counters.local_integrity_errors = counters.receive_errors / 16;
  counters.sequence_naks = port->sequence_naks;
  counters.out_of_order = port->out_of_order;
  counters.link_downed = port->downed;
  counters.link_recoveries = port->downed + counters.symbol_errors / 4096;
  if (!is_up) return reading;
  reading.state = PortState::active;
  reading.physical = PhysicalState::link_up;
  reading.lid = port->lid;
  reading.sm_lid = kManagerLid;
  reading.peer = cabling_.at(port->cabled.leaf).name;
  reading.peer_port = port->cabled.port;
  reading.peer_lid = lid_of(port->cabled.leaf);
  reading.peer_guid = guid_of(port->cabled.leaf);
  return reading;
}

}  // namespace cupel::rehearsal
