#include "burnin/fabric/pair_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cupel::burnin::fabric {
namespace {

constexpr double kPercent = 100;
constexpr std::size_t kLeastFlows = 6;        // of a kind, for the middle one to say what is usual
constexpr int kLeastPartners = 2;             // one late flow may be the other end's
constexpr double kSigmas = 6, kMad = 1.4826;  // of a normal distribution
constexpr double kLeastShare = 0.10;  // of the usual: less is no lag, however quiet the fleet is

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

PairLatency::PairLatency(const Topology& topology)
    : topology_{topology},
      fixed_{fixed_rounds(topology)},
      absent_(static_cast<std::size_t>(topology.wiring().nodes)) {
  begin_round();
}

void PairLatency::begin_round() {
  asked_.clear();
  for (; asked_.empty() && round_ < fixed_.size(); ++round_)
    for (const auto& pair : fixed_[round_]) {
      if (absent_[static_cast<std::size_t>(pair.one)] ||
          absent_[static_cast<std::size_t>(pair.other)])
        continue;
      std::vector<Flow> flows;
      add_flows(topology_, pair, flows);
      std::erase_if(flows, [&](const Flow& flow) { return flow.from != pair.one; });
      asked_.insert(asked_.end(), flows.begin(), flows.end());
    }
}

void PairLatency::take(std::span<const double> readings) {
  for (std::size_t i = 0; i < readings.size() && i < asked_.size(); ++i)
    if (readings[i] > 0) readings_.push_back({asked_[i], readings[i]});
  begin_round();
}

void PairLatency::leave(int node) {
  absent_[static_cast<std::size_t>(node)] = true;
  std::erase_if(asked_, [node](const Flow& flow) { return flow.from == node || flow.to == node; });
  if (asked_.empty()) begin_round();
}

std::size_t PairLatency::port_of(int node, int rail) const {
  return static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.wiring().rails) +
         static_cast<std::size_t>(rail);
}

/// Of flows inside a leaf, and across: spines take time of their own.
std::array<PairLatency::Noise, 2> PairLatency::noise() const {
  std::array<Noise, 2> noise{};
  for (const bool across : {false, true}) {
    std::vector<double> all, deviations;
    for (const auto& reading : readings_)
      if (topology_.across(reading.flow) == across) all.push_back(reading.microseconds);
    if (all.size() < kLeastFlows) continue;
    const double usual = median(all);
    for (const double each : all) deviations.push_back(std::abs(each - usual));
    noise[across ? 1 : 0] = {
        usual, usual + std::max(kSigmas * kMad * median(deviations), kLeastShare * usual)};
  }
  return noise;
}

void PairLatency::add_to(const Names& names, GroupFindings& found) const {
  struct OfLink {
    double best = 0, lag = std::numeric_limits<double>::infinity();
    int partners = 0;
    bool cleared = false;
  };
  const auto limits = noise();
  std::vector<OfLink> links(topology_.wiring().ports.size());
  for (const auto& [flow, microseconds] : readings_) {
    const auto& noise = limits[topology_.across(flow) ? 1 : 0];
    for (const int node : {flow.from, flow.to}) {
      auto& link = links[port_of(node, flow.rail)];
      link.best = link.best > 0 ? std::min(link.best, microseconds) : microseconds;
      if (noise.usual <= 0) continue;
      ++link.partners;
      link.cleared |= microseconds <= noise.limit;
      link.lag = std::min(link.lag, microseconds / noise.usual - 1);
    }
  }
  for (const bool across : {false, true})
    if (const auto& of = limits[across ? 1 : 0]; of.usual > 0)
      found.reasons.push_back(fmt::format("latency {}: usually {:.2f} us, late beyond {:.2f} us",
                                          across ? "across leaves" : "inside a leaf", of.usual,
                                          of.limit));
  for (int node = 0; node < topology_.wiring().nodes; ++node)
    for (int rail = 0; rail < topology_.wiring().rails; ++rail) {
      const auto port = port_of(node, rail);
      const auto& link = links[port];
      if (link.best <= 0 || port >= names.hcas.size() || names.hcas[port].empty()) continue;
      auto& measured = found.members[static_cast<std::size_t>(node)].measurements;
      measured.push_back({"fabric.link.latency", names.hcas[port], link.best, "us"});
      if (!link.cleared && link.partners < kLeastPartners) continue;  // not known
      measured.push_back(
          {"fabric.link.lag", names.hcas[port], link.cleared ? 0 : kPercent * link.lag, "%"});
    }
}

}  // namespace cupel::burnin::fabric
