#pragma once
// A rail-optimised fabric with slow parts and the noise of real readings, for tests and curves of
// the search by pairs. What a flow crosses is worked out here, from the fabric's own routing, and
// not by the code under test.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "burnin/fabric/screen.h"
#include "burnin/fabric/uplink_traces.h"

namespace cupel::test {

struct SimulatedFabric {
  /// How leaves choose uplinks. `place`: OpenSM's minhop and updn with all HCAs plugged in;
  /// `shifted`: the same where each leaf counts from another port, as one HCA that is unplugged has
  /// it; `ftree`: OpenSM's, which deals over the spines first; `lid`: by the number of the
  /// destination; `hashed`: ECMP by a hash of each connection, always the same of two nodes.
  enum class Routes { place, shifted, ftree, lid, adaptive, hashed };
  /// Of what is always the same of one link.
  enum class Spread { lower_half, normal, exponential, batch };

  int nodes = 232, rails = 8, group = 32;
  double noise = 0.006;  // standard deviation of a reading
  double dips = 0.005;   // share of readings that are 6 to 30 % lower
  double spread = 0;     // of access links, always the same of one
  Routes routes = Routes::place;
  bool has_tables = true;  // the plan has the routes
  burnin::fabric::Routing reported = burnin::fabric::Routing::by_destination;
  Spread shape = Spread::lower_half;
  double dips_again = 0;  // chance that a reading dips because the one before did
  bool skewed = false;    // noise falls off slowly below, and stops soon above
  int connections = 1;    // of a flow, each hashed for itself
  int most_spines = 1 << 20;
  double other_traffic = 0.01;  // on each uplink while a flow is traced, at most: share of the flow
  bool compounds =
      false;  // what two slow parts leave of a flow is multiplied, not the least of both
  bool reads_counters = true;
  int liar = -1;  // counters that this node reads have grown at uplinks where the flow is not

  int groups() const { return (nodes + group - 1) / group; }
  int spines() const { return std::min(std::clamp(groups(), 4, group), most_spines); }
  int leaf_of(int node, int rail) const { return node / group * rails + rail; }
  int place_of(int node) const { return node % group; }
  int spine_of(int uplink) const { return uplink * spines() / group; }

  /// The uplinks by which the sender's leaf sends, and the receiver's leaf receives. They end at
  /// one spine.
  burnin::fabric::Route route(int from_leaf, int to, int rail) const {
    const int place = place_of(to), lid = to * rails + rail;
    const auto both = [](int uplink) {
      return burnin::fabric::Route{static_cast<std::int16_t>(uplink),
                                   static_cast<std::int16_t>(uplink)};
    };
    switch (routes) {
      case Routes::shifted: {
        const int up = (place + from_leaf) % group;
        return {static_cast<std::int16_t>(up), static_cast<std::int16_t>(down_from(up, place))};
      }
      case Routes::ftree: {
        const int each = group / spines();
        return both(place % spines() * each + place / spines() % std::max(each, 1));
      }
      case Routes::lid: {
        const int up = (lid / rails + lid % rails * 5) % group;
        return {static_cast<std::int16_t>(up), static_cast<std::int16_t>(down_from(up, place))};
      }
      case Routes::place:
      case Routes::adaptive:
      case Routes::hashed:
        break;
    }
    return both(place);
  }

  burnin::fabric::Wiring wiring() const {
    burnin::fabric::Wiring made;
    made.nodes = nodes;
    made.rails = rails;
    made.leaves = groups() * rails;
    made.spines = spines();
    made.uplinks = group;
    made.routing = reported;
    for (int node = 0; node < nodes; ++node)
      for (int rail = 0; rail < rails; ++rail)
        made.ports.push_back({leaf_of(node, rail), place_of(node)});
    for (int leaf = 0; leaf < made.leaves; ++leaf)
      for (int uplink = 0; uplink < group; ++uplink)
        made.spine_of_uplink.push_back(spine_of(uplink));
    if (!has_tables || groups() < 2) return made;
    for (int leaf = 0; leaf < made.leaves; ++leaf) {
      auto& routes_of = made.routes[{leaf, leaf % rails}];
      for (int node = 0; node < nodes; ++node) routes_of.push_back(route(leaf, node, leaf % rails));
    }
    return made;
  }

 private:
  /// One of the receiver's uplinks to the same spine, by the place.
  int down_from(int up, int place) const {
    std::vector<int> same;
    for (int uplink = 0; uplink < group; ++uplink)
      if (spine_of(uplink) == spine_of(up)) same.push_back(uplink);
    return same[static_cast<std::size_t>(place) % same.size()];
  }
};

/// What is slow, and how much is left of it.
class SlowParts {
 public:
  using PartId = burnin::fabric::PartId;
  using PartKind = burnin::fabric::PartKind;
  using Flow = burnin::fabric::Flow;

  SlowParts(const burnin::fabric::Topology& topology, const SimulatedFabric& fabric,
            std::uint64_t seed)
      : topology_{topology}, fabric_{fabric}, draw_{seed}, share_(topology.part_count(), 1.0) {
    if (fabric.spread > 0)
      for (int node = 0; node < fabric.nodes; ++node)
        for (int rail = 0; rail < fabric.rails; ++rail)
          share_[topology.id({PartKind::access, {}, node, rail})] = own_rate(node);
  }

  void slow(PartId part, double share) {
    share_[part] = std::min(share_[part], 1.0) * share;
    bad_.push_back(part);
  }
  /// In so many of its readings alone.
  void slow_now_and_then(PartId part, double share, double duty) {
    duty_[part] = duty;
    slow(part, share);
  }
  /// Two nodes that are slow with each other, and with nobody else.
  void slow_together(int one, int other, double share) {
    pairs_[{std::min(one, other), std::max(one, other)}] = share;
  }
  /// All uplinks, or those of some spines.
  void slow_uplinks(double share) { of_uplinks_ = share; }

  /// So many, as a new fabric has them: half are access links, a fifth each nodes and uplinks.
  void plant(int count, double least_share, double most_share) {
    while (static_cast<int>(bad_.size()) < count) {
      const auto part = any_part();
      if (std::ranges::find(bad_, part) != bad_.end()) continue;
      slow(part, std::uniform_real_distribution{least_share, most_share}(draw_));
    }
  }
  PartId any_of(PartKind kind, burnin::fabric::Way way = burnin::fabric::Way::both) {
    for (;;) {
      const auto part = any_of_kind(kind, way);
      if (std::ranges::find(bad_, part) == bad_.end()) return part;
    }
  }
  double level(double least, double most) {
    return std::uniform_real_distribution{least, most}(draw_);
  }
  int below(int end) { return std::uniform_int_distribution{0, end - 1}(draw_); }
  const std::vector<PartId>& bad() const { return bad_; }

  double read(const Flow& flow) {
    double share = 1;
    for (const auto part : crossed(flow, fabric_.route(from_leaf(flow), flow.to, flow.rail)))
      share = fabric_.compounds ? share * now(part) : std::min(share, now(part));
    return with_noise(flow, share);
  }

  /// Of flows at the same time: on an uplink of a hash they share its rate.
  std::vector<double> read_all(std::span<const Flow> flows) {
    std::vector<double> readings;
    if (fabric_.routes == SimulatedFabric::Routes::hashed) return hashed(flows);
    for (const auto& flow : flows) readings.push_back(read(flow));
    return readings;
  }

  /// By the port counters of both leaves, while the flow alone reads this.
  burnin::fabric::Trace trace(const Flow& flow, double reading) {
    const auto route = fabric_.route(from_leaf(flow), flow.to, flow.rail);
    const auto sent = growth(flow, route.up, reading), received = growth(flow, route.down, reading);
    return trace_of(topology_, flow, reading, sent, received);
  }

 private:
  using Route = burnin::fabric::Route;
  using Side = burnin::fabric::Way;

  /// Of each uplink of a leaf: the flow with its headers, and what others send.
  std::vector<double> growth(const Flow& flow, int uplink, double reading) {
    constexpr double kHeaders = 0.02, kUneven = 0.2;
    std::vector<double> grown(static_cast<std::size_t>(fabric_.group));
    if (!fabric_.reads_counters) {
      std::ranges::fill(grown, std::nan(""));
      return grown;
    }
    const bool lies = flow.from == fabric_.liar;
    const double sent = reading * (1 + kHeaders);
    for (auto& each : grown) {
      each = reading * fabric_.other_traffic * chance_(draw_);
      if (fabric_.routes == SimulatedFabric::Routes::adaptive)
        each += sent / fabric_.group * (1 + kUneven * (chance_(draw_) - chance_(draw_)));
    }
    if (fabric_.routes != SimulatedFabric::Routes::adaptive)
      grown[static_cast<std::size_t>(lies ? below(fabric_.group) : uplink)] += sent;
    return grown;
  }

  double own_rate(int node) {
    const double amount = fabric_.spread;
    switch (fabric_.shape) {
      case SimulatedFabric::Spread::lower_half:
        return 1 - amount * std::abs(normal_(draw_));
      case SimulatedFabric::Spread::normal:
        return 1 + amount * normal_(draw_);
      case SimulatedFabric::Spread::exponential:
        return 1 + amount * std::log(std::max(chance_(draw_), 1e-12));
      case SimulatedFabric::Spread::batch:  // of three in ten nodes
        return (node * 7 % 10 < 3 ? 1 - 2 * amount : 1) * (1 + 0.1 * amount * normal_(draw_));
    }
    return 1;
  }

  int from_leaf(const Flow& flow) const { return fabric_.leaf_of(flow.from, flow.rail); }

  std::vector<PartId> crossed(const Flow& flow, const Route& route) const {
    const int from = from_leaf(flow), to = fabric_.leaf_of(flow.to, flow.rail);
    std::vector<PartId> parts;
    const auto add = [&](PartKind kind, Side side, int owner, int index) {
      parts.push_back(topology_.id({kind, Side::both, owner, index}));
      if (side != Side::both) parts.push_back(topology_.id({kind, side, owner, index}));
    };
    add(PartKind::node, Side::both, flow.from, 0);
    add(PartKind::node, Side::both, flow.to, 0);
    add(PartKind::access, Side::out, flow.from, flow.rail);
    add(PartKind::access, Side::in, flow.to, flow.rail);
    add(PartKind::leaf, Side::both, from, 0);
    if (from == to) return parts;
    add(PartKind::leaf, Side::both, to, 0);
    if (fabric_.routes == SimulatedFabric::Routes::adaptive) return parts;
    add(PartKind::uplink, Side::out, from, route.up);
    add(PartKind::uplink, Side::in, to, route.down);
    add(PartKind::spine, Side::both, fabric_.spine_of(route.up), 0);
    return parts;
  }

  double now(PartId part) {
    const auto duty = duty_.find(part);
    if (duty != duty_.end() && chance_(draw_) >= duty->second) return 1;
    return share_[part];
  }

  double with_noise(const Flow& flow, double share) {
    const bool across = from_leaf(flow) != fabric_.leaf_of(flow.to, flow.rail);
    if (across) share = std::min(share, of_uplinks_);
    if (across && fabric_.routes == SimulatedFabric::Routes::adaptive)
      share = std::min(share, adaptive(from_leaf(flow), Side::out) *
                                  adaptive(fabric_.leaf_of(flow.to, flow.rail), Side::in));
    const auto pair = pairs_.find({std::min(flow.from, flow.to), std::max(flow.from, flow.to)});
    if (pair != pairs_.end()) share = std::min(share, pair->second);
    const double away =
        fabric_.skewed ? 1 + std::log(std::max(chance_(draw_), 1e-12)) : normal_(draw_);
    share *= 1 + fabric_.noise * away;
    auto& dipped = dipped_[{flow.from, flow.to * fabric_.rails + flow.rail}];
    dipped = chance_(draw_) < (dipped ? std::max(fabric_.dips_again, fabric_.dips) : fabric_.dips);
    return dipped ? share * (0.7 + 0.24 * chance_(draw_)) : share;
  }

  /// What is left over all uplinks alike.
  double adaptive(int leaf, Side side) const {
    double all = 0;
    for (int uplink = 0; uplink < fabric_.group; ++uplink)
      all += std::min(
          {share_[topology_.id({PartKind::uplink, Side::both, leaf, uplink})],
           share_[topology_.id({PartKind::uplink, side, leaf, uplink})],
           share_[topology_.id({PartKind::spine, Side::both, fabric_.spine_of(uplink), 0})]});
    return all / fabric_.group;
  }

  std::vector<double> hashed(std::span<const Flow> flows) {
    std::map<std::pair<int, int>, double> load;
    const auto routes_of = [&](const Flow& flow) {
      std::vector<Route> all;
      for (int i = 0; i < fabric_.connections; ++i) {
        const auto bits = (static_cast<std::uint64_t>(flow.from) * 1'000'003u +
                           static_cast<std::uint64_t>(flow.to) * 97u +
                           static_cast<std::uint64_t>(flow.rail) * 31u +
                           static_cast<std::uint64_t>(i) * 7919u + hash_) *
                          0x9e3779b97f4a7c15ull;
        const auto up = static_cast<int>((bits >> 40) % static_cast<std::uint64_t>(fabric_.group));
        all.push_back({static_cast<std::int16_t>(up), static_cast<std::int16_t>(up)});
      }
      return all;
    };
    const double each = 1.0 / fabric_.connections;
    for (const auto& flow : flows) {
      const int from = from_leaf(flow), to = fabric_.leaf_of(flow.to, flow.rail);
      if (from == to) continue;
      for (const auto& route : routes_of(flow)) {
        load[{from, route.up}] += each;
        load[{-1 - to, route.down}] += each;
      }
    }
    std::vector<double> readings;
    for (const auto& flow : flows) {
      const int from = from_leaf(flow), to = fabric_.leaf_of(flow.to, flow.rail);
      double share = 0;
      for (const auto& route : routes_of(flow)) {
        double own = from == to
                         ? 1
                         : 1 / std::max({1.0, load[{from, route.up}], load[{-1 - to, route.down}]});
        for (const auto part : crossed(flow, route)) own = std::min(own, now(part));
        share += own * each;
      }
      readings.push_back(with_noise(flow, share));
    }
    return readings;
  }

  PartId any_part() {
    for (;;) {
      const double kind = chance_(draw_);
      if (kind < 0.2) return any_of_kind(PartKind::node, Side::both);
      if (kind < 0.7) return any_of_kind(PartKind::access, Side::both);
      if (fabric_.groups() < 2) continue;
      if (kind < 0.9) return any_of_kind(PartKind::uplink, Side::both);
      if (kind < 0.96) return any_of_kind(PartKind::leaf, Side::both);
      return any_of_kind(PartKind::spine, Side::both);
    }
  }

  PartId any_of_kind(PartKind kind, Side side) {
    switch (kind) {
      case PartKind::node:
        return topology_.id({kind, side, below(fabric_.nodes), 0});
      case PartKind::access:
        return topology_.id({kind, side, below(fabric_.nodes), below(fabric_.rails)});
      case PartKind::uplink: {
        // One that nodes of two groups at the same place reach each other by.
        const int group = below(fabric_.groups()), rail = below(fabric_.rails);
        const int to = below(fabric_.nodes), place = fabric_.place_of(to);
        const int from = group * fabric_.group + place;
        if (from >= fabric_.nodes || from / fabric_.group == to / fabric_.group)
          return any_of_kind(kind, side);
        const auto taken = fabric_.route(fabric_.leaf_of(from, rail), to, rail);
        return topology_.id({kind, side, fabric_.leaf_of(from, rail), taken.up});
      }
      case PartKind::leaf:
        return topology_.id({kind, side, below(fabric_.groups() * fabric_.rails), 0});
      case PartKind::spine:
        return topology_.id({kind, side, below(fabric_.spines()), 0});
    }
    return 0;
  }

  const burnin::fabric::Topology& topology_;
  const SimulatedFabric fabric_;
  std::mt19937_64 draw_;
  std::normal_distribution<double> normal_{0, 1};
  std::uniform_real_distribution<double> chance_{0, 1};
  std::uint64_t hash_ = draw_();
  std::vector<double> share_;
  std::map<PartId, double> duty_;
  std::map<std::pair<int, int>, double> pairs_;
  std::map<std::pair<int, int>, bool> dipped_;
  double of_uplinks_ = 1;
  std::vector<PartId> bad_;
};

/// All that is to be traced, and what that leads to. What is reported of it.
inline std::vector<std::string> trace_flows(burnin::fabric::PairScreen& screen, SlowParts& parts) {
  burnin::fabric::UplinkTraces traces{screen};
  while (!traces.next_flows().empty()) {
    std::vector<double> readings;
    std::vector<burnin::fabric::Trace> found;
    for (const auto& flow : traces.next_flows()) {
      readings.push_back(parts.read(flow));
      found.push_back(parts.trace(flow, readings.back()));
    }
    traces.take(readings, found);
  }
  while (!screen.next_flows().empty()) screen.take(parts.read_all(screen.next_flows()));
  return traces.reasons({});
}

}  // namespace cupel::test
