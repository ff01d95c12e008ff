#include "burnin/fabric/pair_retransmits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

// What is assumed of flows before any is counted: one in 200 loses packets by itself.
constexpr double kLeastShare = 1.0 / 200;
// That one of all links of a run is named though its losses are the fabric's.
constexpr double kByChance = 1.0 / 1000;

}  // namespace

std::size_t PairRetransmits::port_of(int node, int rail) const {
  return static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.wiring().rails) +
         static_cast<std::size_t>(rail);
}

void PairRetransmits::take(const Flow& flow, std::uint64_t packets) {
  const auto [at, is_new] =
      flows_.try_emplace({flow.from, flow.to, flow.rail}, Counted{flow, packets});
  if (!is_new) at->second.packets = std::min(at->second.packets, packets);
}

std::vector<PairRetransmits::Link> PairRetransmits::links() const {
  std::vector<Link> links(topology_.wiring().ports.size());
  const auto count = [](Way& way, std::uint64_t packets) {
    way.least = way.own.flows == 0 ? packets : std::min(way.least, packets);
    way.own.add(packets);
  };
  for (const auto& [key, counted] : flows_) {
    count(links[port_of(counted.flow.from, counted.flow.rail)].out, counted.packets);
    count(links[port_of(counted.flow.to, counted.flow.rail)].in, counted.packets);
  }
  return links;
}

bool PairRetransmits::crosses_a_suspect(const Flow& flow, std::span<const Link> links) const {
  return links[port_of(flow.from, flow.rail)].out.is_suspect() ||
         links[port_of(flow.to, flow.rail)].in.is_suspect();
}

/// Of flows that cross no link each of whose flows lost packets: what flows lose by themselves, as
/// where RoCE runs without flow control.
double PairRetransmits::usual_share(std::span<const Link> links) const {
  Share rest;
  for (const auto& [key, counted] : flows_)
    if (!crosses_a_suspect(counted.flow, links)) rest.add(counted.packets);
  return rest.flows > 0 ? std::max(kLeastShare, rest.lossy_share()) : 1;
}

/// Where other flows of its leaf lose packets too, the leaf or its settings may be the cause. What
/// the same link loses the other way, and what a few other links lose, says nothing about the leaf;
/// what most of its links lose does.
bool PairRetransmits::is_more_than_chance(const Way& way, const Link& link, const Leaf& leaf,
                                          double usual) const {
  const Share others{leaf.all.flows - link.out.own.flows - link.in.own.flows,
                     leaf.all.lossy - link.out.own.lossy - link.in.own.lossy};
  const auto& judged = 2 * leaf.rest.flows >= others.flows ? leaf.rest : others;
  const double share = std::max(usual, judged.lossy_share());
  const auto ways = 2 * static_cast<double>(topology_.wiring().ports.size());
  return ways * std::pow(share, way.own.flows) < kByChance;
}

/// By number.
std::map<int, PairRetransmits::Leaf> PairRetransmits::leaves(std::span<const Link> links) const {
  std::map<int, Leaf> leaves;
  for (const auto& [key, counted] : flows_) {
    const auto& [from, to, rail] = counted.flow;
    const bool is_of_rest = !crosses_a_suspect(counted.flow, links);
    for (const int at : std::set{topology_.port(from, rail).leaf, topology_.port(to, rail).leaf}) {
      leaves[at].all.add(counted.packets);
      if (is_of_rest) leaves[at].rest.add(counted.packets);
    }
  }
  return leaves;
}

void PairRetransmits::add_to(const Names& names, GroupFindings& found) const {
  if (flows_.empty()) return;
  const auto links = this->links();
  const auto leaves = this->leaves(links);
  const double usual = usual_share(links);
  for (int node = 0; node < topology_.wiring().nodes; ++node)
    for (int rail = 0; rail < topology_.wiring().rails; ++rail) {
      const auto port = port_of(node, rail);
      const auto leaf = leaves.find(topology_.port(node, rail).leaf);
      if (leaf == leaves.end() || port >= names.hcas.size() || names.hcas[port].empty()) continue;
      double packets = 0;
      bool is_known = true;
      for (const auto& way : {links[port].out, links[port].in}) {
        if (way.own.flows > way.own.lossy) continue;  // a flow clears it
        if (way.is_suspect() && is_more_than_chance(way, links[port], leaf->second, usual))
          packets = std::max(packets, static_cast<double>(way.least));
        else
          is_known = false;
      }
      if (packets > 0 || is_known)
        found.members[static_cast<std::size_t>(node)].measurements.push_back(
            {"fabric.link.retransmits", names.hcas[port], packets, "count"});
    }
  say(names, found);
}

void PairRetransmits::say(const Names& names, GroupFindings& found) const {
  const Counted* most = nullptr;
  Share all;
  for (const auto& [key, counted] : flows_) {
    all.add(counted.packets);
    if (most == nullptr || counted.packets > most->packets) most = &counted;
  }
  if (all.lossy == 0) return;
  found.reasons.push_back(fmt::format("packets were sent again on {} of {} flows; most on {}: {}",
                                      all.lossy, all.flows, name_of(topology_, names, most->flow),
                                      most->packets));
}

}  // namespace cupel::burnin::fabric
