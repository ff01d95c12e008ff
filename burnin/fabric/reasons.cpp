#include "burnin/fabric/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cupel::burnin::fabric {
namespace {

constexpr std::size_t kMostFlowsListed = 8;
constexpr double kPercent = 100;

std::string at_or(const std::vector<std::string>& names, int index, std::string_view otherwise) {
  const auto at = static_cast<std::size_t>(index);
  return at < names.size() && !names[at].empty() ? names[at]
                                                 : fmt::format("{}{}", otherwise, index + 1);
}

std::string_view way_text(const Part& part) {
  const bool access = part.kind == PartKind::access;
  switch (part.way) {
    case Way::both:
      return "";
    case Way::out:
      return access ? ", from the node" : ", to the spine";
    case Way::in:
      return access ? ", to the node" : ", from the spine";
  }
  return "";
}

std::string names_of(const Topology& topology, const Names& names, const Suspicion& suspicion) {
  std::vector<std::string> all;
  for (const auto part : suspicion.parts) all.push_back(name_of(topology, names, part));
  return fmt::format("{}", fmt::join(all, " | "));
}

std::string usual_text(const Limits& limits, std::string_view where) {
  return fmt::format("{}: usual {:.1f} Gb/s, noise {:.1f} %, slow below {:.1f} Gb/s", where,
                     limits.usual, kPercent * limits.noise, limits.limit());
}

std::string evidence_text(const Suspicion& suspicion) {
  if (suspicion.comes_and_goes())
    return fmt::format(
        "comes and goes: {:.0f} % of the usual rate in {} of {} readings; evidence {:.0f} nats",
        kPercent * suspicion.level, suspicion.dips, suspicion.readings, suspicion.score);
  return fmt::format("{:.0f} % of the usual rate; {} of {} flows slow; evidence {:.0f} nats",
                     kPercent * suspicion.level, suspicion.slow, suspicion.slow + suspicion.fast,
                     suspicion.score);
}

void add_unexplained(const PairScreen& screen, const Culprits& culprits, const Names& names,
                     std::vector<std::string>& lines) {
  const auto& flows = culprits.unexplained;
  if (flows.empty()) return;
  lines.push_back(fmt::format("{} slow flows that no part explains", flows.size()));
  for (std::size_t i = 0; i < std::min(flows.size(), kMostFlowsListed); ++i)
    lines.push_back(fmt::format("unexplained: {}: {:.0f} %",
                                name_of(screen.topology(), names, screen.readings().flow(flows[i])),
                                kPercent * screen.readings().best(flows[i])));
}

/// Why no single uplink or spine is named; empty: they are.
std::string_view why_no_uplink(const Wiring& wiring) {
  switch (wiring.routing) {
    case Routing::by_destination:
      return wiring.spines > 0 && wiring.routes.empty()
                 ? "the forwarding tables are not known: no single uplink or spine is named here. "
                   "Give them as fabric: forwarding: in the inventory"
                 : "";
    case Routing::ecmp:
      return "routing is by a hash of each connection: no single uplink or spine is named here";
    case Routing::adaptive:
    case Routing::unknown:
      break;
  }
  return "routing is adaptive or not known: no single uplink or spine is named here. With adaptive "
         "routing a bad uplink costs each flow a small share: its counters must show it, or a "
         "service level without adaptive routing";
}

bool of_kind(const Topology& topology, const Suspicion& suspicion, PartKind kind) {
  return std::ranges::any_of(suspicion.parts,
                             [&](PartId part) { return topology.part(part).kind == kind; });
}

}  // namespace

std::string name_of(const Topology& topology, const Names& names, PartId id) {
  const auto part = topology.part(id);
  const auto& wiring = topology.wiring();
  switch (part.kind) {
    case PartKind::node:
      return at_or(names.nodes, part.owner, "node");
    case PartKind::leaf:
      return at_or(names.leaves, part.owner, "leaf");
    case PartKind::spine:
      return at_or(names.spines, part.owner, "spine");
    case PartKind::access: {
      const int port = part.owner * wiring.rails + part.index;
      const auto& cabled = topology.port(part.owner, part.index);
      return fmt::format("link {}/{} - {} port {}{}", at_or(names.nodes, part.owner, "node"),
                         at_or(names.hcas, port, "hca"), at_or(names.leaves, cabled.leaf, "leaf"),
                         at_or(names.leaf_ports, port, ""), way_text(part));
    }
    case PartKind::uplink: {
      const int uplink = part.owner * wiring.uplinks + part.index;
      const int spine = wiring.spine_of_uplink[static_cast<std::size_t>(uplink)];
      return fmt::format("uplink {} port {} - {}{}", at_or(names.leaves, part.owner, "leaf"),
                         at_or(names.uplink_ports, uplink, ""), at_or(names.spines, spine, "spine"),
                         way_text(part));
    }
  }
  return "";
}

std::string name_of(const Topology&, const Names& names, const Flow& flow) {
  return fmt::format("{} -> {}, rail {}", at_or(names.nodes, flow.from, "node"),
                     at_or(names.nodes, flow.to, "node"), flow.rail);
}

std::string deciding_swap(const Topology& topology, const Names& names,
                          const Suspicion& suspicion) {
  const auto first = name_of(topology, names, suspicion.parts.front());
  constexpr std::string_view kThen =
      "Which two plugs, and what is left once you measured with them exchanged: cupel fabric "
      "after-swap";
  if (of_kind(topology, suspicion, PartKind::uplink))
    return fmt::format(
        "exchange, at the spines, the cable of {} with that of another uplink of the same leaf, to "
        "another spine. {}",
        first, kThen);
  if (of_kind(topology, suspicion, PartKind::access))
    return fmt::format("exchange, at the leaf, the cable of {} with that of another node. {}",
                       first, kThen);
  return fmt::format("connect another node in place of {}, and measure again", first);
}

namespace {

std::string ports_of(const Wiring& wiring, const Names& names, int leaf) {
  constexpr int kMost = 64;
  std::vector<std::string> ports;
  for (int i = 0; i < std::min(wiring.uplinks, kMost); ++i) {
    const int place = leaf * wiring.uplinks + i;
    const auto at = static_cast<std::size_t>(place);
    if (at < names.uplink_ports.size() && !names.uplink_ports[at].empty())
      ports.push_back(names.uplink_ports[at]);
  }
  return ports.empty() ? "" : fmt::format(" (ports {})", fmt::join(ports, ", "));
}

std::string group_text(const Topology& topology, const Names& names, const UplinkGroup& group) {
  const auto& wiring = topology.wiring();
  std::vector<std::string> leaves;
  for (const int leaf : group.leaves)
    leaves.push_back(at_or(names.leaves, leaf, "leaf") + ports_of(wiring, names, leaf));
  const auto what = leaves.empty() ? std::string{"a spine, or uplinks of many leaves"}
                                   : fmt::format("an uplink of {}", fmt::join(leaves, " or "));
  const bool is_static =
      wiring.routing == Routing::by_destination || wiring.routing == Routing::unknown;
  return fmt::format("{}: {} slow flows, all over it, {:.0f} % of the usual rate{}", what,
                     group.flows.size(), kPercent * group.level,
                     is_static
                         ? "; which one, the subnet manager's tables say (fabric: forwarding: "
                           "in the inventory, routing: by-destination)"
                         : "; its error counters show which one");
}

}  // namespace

std::vector<std::string> fabric_lines(const Topology& topology, const Names& names,
                                      const WholeFabric& fabric) {
  std::vector<std::string> lines;
  if (fabric.loss > 0)
    lines.push_back(fmt::format(
        "across leaves is {:.0f} % slower than inside leaves: all uplinks alike, or the "
        "fabric has fewer of them than it needs",
        kPercent * fabric.loss));
  if (fabric.collides)
    lines.emplace_back(
        "collisions: flows have a half or a third of the usual rate, as where a hash (ECMP) puts "
        "several on one uplink. Measure with more queue pairs a flow (qps), or with adaptive "
        "routing at the switches");
  else if (fabric.split > 0)
    lines.push_back(
        fmt::format("split: {:.0f} % of the flows across leaves have {:.0f} % of the usual rate, "
                    "and the others "
                    "all of it",
                    kPercent * fabric.split, kPercent * fabric.split_level));
  for (const auto& group : fabric.groups) lines.push_back(group_text(topology, names, group));
  return lines;
}

std::vector<std::string> reasons(const PairScreen& screen, const Culprits& culprits,
                                 const WholeFabric& fabric, const Names& names) {
  const auto& topology = screen.topology();
  std::vector<std::string> lines{
      fmt::format("{} rounds, {} flows", screen.rounds(), screen.readings().size()),
      usual_text(screen.limits(false), "inside leaves"),
      usual_text(screen.limits(true), "across leaves")};
  if (const auto left_out = screen.left_out(); left_out > 0)
    lines.push_back(fmt::format(
        "{} pairs across leaves were not measured: their flows are on uplinks of other pairs in "
        "each round",
        left_out));
  for (const bool across : {false, true})
    if (screen.below_floor(across))
      lines.push_back(fmt::format(
          "the fleet itself is below its limit {}: no single part explains that; compare MTU, PCIe "
          "and firmware settings",
          across ? "across leaves" : "inside leaves"));
  for (const auto& each : culprits.named)
    lines.push_back(
        fmt::format("slow: {}: {}", names_of(topology, names, each), evidence_text(each)));
  for (const auto& each : culprits.open) {
    const bool several = each.parts.size() > 1;
    lines.push_back(fmt::format("{}: {}: {}",
                                several ? "cannot be distinguished from here" : "not certain",
                                names_of(topology, names, each), evidence_text(each)));
    if (several) lines.push_back("decides: " + deciding_swap(topology, names, each));
  }
  for (auto& line : fabric_lines(topology, names, fabric)) lines.push_back(std::move(line));
  add_unexplained(screen, culprits, names, lines);
  const auto why = topology.measured() > 0 ? std::string_view{} : why_no_uplink(topology.wiring());
  if (!why.empty()) lines.emplace_back(why);
  return lines;
}

}  // namespace cupel::burnin::fabric
