#include "burnin/fabric/next_test.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

/// Pairs that are tried for one suspect; the search ends there.
constexpr int kMostTries = 4096;

class Chooser {
 public:
  Chooser(const Readings& readings, const std::vector<bool>& absent, int turn = 0)
      : topology_{readings.topology()},
        readings_{readings},
        turn_{turn},
        busy_{absent},
        suspected_(topology_.part_count()) {
    busy_.resize(static_cast<std::size_t>(topology_.wiring().nodes));
  }

  void doubt(PartId part) { suspected_[topology_.whole(part)] = true; }
  /// Of whole links and single parts. On slow flows that no part explains is nobody who is cleared.
  void doubt(const Culprits& culprits) {
    for (const auto* all : {&culprits.named, &culprits.open})
      for (const auto& each : *all)
        for (const auto part : each.parts) doubt(part);
    for (const auto id : culprits.unexplained)
      for (const auto part : readings_.parts(id))
        if (const auto kind = topology_.part(part).kind;
            kind == PartKind::access || kind == PartKind::uplink)
          doubt(part);
  }

  void test(PartId suspect) {
    tries_ = 0;
    const auto part = topology_.part(suspect);
    const auto flow = part.kind == PartKind::uplink ? by_uplink(suspect, part)
                      : part.kind == PartKind::node || part.kind == PartKind::access
                          ? by_node(suspect, part)
                          : by_any(suspect, part);
    if (!flow) return;
    chosen_.push_back(*flow);
    chosen_.push_back({flow->to, flow->from, flow->rail});
    busy_[static_cast<std::size_t>(flow->from)] = busy_[static_cast<std::size_t>(flow->to)] = true;
  }

  std::vector<Flow> chosen() { return std::move(chosen_); }

 private:
  int nodes() const { return topology_.wiring().nodes; }
  int rails() const { return topology_.wiring().rails; }
  bool is_free(int node) const { return !busy_[static_cast<std::size_t>(node)]; }

  /// Whether the flow crosses the suspect, and no other part that is in doubt.
  bool tells(const Flow& flow, PartId suspect) {
    ++tries_;
    if (!is_free(flow.from) || !is_free(flow.to) || !topology_.connected(flow)) return false;
    if (!topology_.knows_parts(flow)) return false;
    crossed_.clear();
    topology_.add_parts(flow, crossed_);
    const auto whole = topology_.whole(suspect);
    bool on_the_way = false;
    for (const auto each : crossed_) {
      on_the_way |= each == suspect;
      const auto other = topology_.whole(each);
      if (other != whole && suspected_[other]) return false;
    }
    return on_the_way;
  }
  bool go_on() const { return tries_ < kMostTries; }

  std::optional<Flow> from_or_to(int node, int other, int rail, PartId suspect) {
    for (const Flow flow : {Flow{node, other, rail}, Flow{other, node, rail}})
      if (tells(flow, suspect)) return flow;
    return std::nullopt;
  }

  /// Nodes that were measured with this one already.
  std::vector<bool> partners_of(int node) const {
    std::vector<bool> met(busy_.size());
    for (FlowId id = 0; id < readings_.size(); ++id) {
      const auto& flow = readings_.flow(id);
      if (flow.from == node) met[static_cast<std::size_t>(flow.to)] = true;
      if (flow.to == node) met[static_cast<std::size_t>(flow.from)] = true;
    }
    return met;
  }

  /// With a new partner where there is one: what one pair says counts only so much.
  std::optional<Flow> by_node(PartId suspect, const Part& part) {
    const auto met = partners_of(part.owner);
    const auto new_one = by_partners(suspect, part, [&](std::size_t other) { return !met[other]; });
    if (new_one) return new_one;
    tries_ = 0;
    return by_partners(suspect, part, [&](std::size_t other) { return met[other]; });
  }

  template <class May>
  std::optional<Flow> by_partners(PartId suspect, const Part& part, const May& may) {
    constexpr int kStep = 5;
    for (int i = 0; i + 1 < nodes() && go_on(); ++i) {
      const int away = 1 + (i + kStep * turn_) % (nodes() - 1);
      const int other = (part.owner + away) % nodes();
      if (!may(static_cast<std::size_t>(other))) continue;
      for (int rail = 0; rail < rails(); ++rail) {
        if (part.kind == PartKind::access && rail != part.index) continue;
        if (const auto flow = from_or_to(part.owner, other, rail, suspect)) return flow;
      }
    }
    return std::nullopt;
  }

  /// Of a pair that did not cross it yet where there is one.
  std::optional<Flow> by_uplink(PartId suspect, const Part& part) {
    const auto met = pairs_over(suspect);
    const auto is_new = [&](int one, int other) {
      return !met.contains(std::minmax({one, other}));
    };
    if (const auto flow = by_pairs(suspect, part, is_new)) return flow;
    tries_ = 0;
    return by_pairs(suspect, part, [&](int one, int other) { return !is_new(one, other); });
  }

  std::set<std::pair<int, int>> pairs_over(PartId part) const {
    std::set<std::pair<int, int>> pairs;
    for (FlowId id = 0; id < readings_.size(); ++id) {
      const auto& parts = readings_.parts(id);
      if (std::ranges::find(parts, part) == parts.end()) continue;
      pairs.insert(std::minmax({readings_.flow(id).from, readings_.flow(id).to}));
    }
    return pairs;
  }

  /// From a node of its leaf, or to one, by the routes that the tables have.
  template <class May>
  std::optional<Flow> by_pairs(PartId suspect, const Part& part, const May& may) {
    for (int node = 0; node < nodes() && go_on(); ++node)
      for (int rail = 0; rail < rails(); ++rail) {
        if (topology_.port(node, rail).leaf != part.owner || !is_free(node)) continue;
        for (int i = 0; i < nodes() && go_on(); ++i) {
          const int other = (i + turn_ * nodes() / 3) % nodes();
          if (other == node || !is_free(other) || !may(node, other)) continue;
          const auto out = route_of({node, other, rail}), in = route_of({other, node, rail});
          const bool takes_it = out.up == part.index || in.down == part.index;
          if (!takes_it) continue;
          if (const auto flow = from_or_to(node, other, rail, suspect)) return flow;
        }
      }
    return std::nullopt;
  }

  Route route_of(const Flow& flow) const {
    if (!topology_.connected(flow) || !topology_.across(flow)) return {};
    return topology_.route(flow).value_or(Route{});
  }

  /// A leaf or a spine: one of the flows that cross it already, with other partners.
  std::optional<Flow> by_any(PartId suspect, const Part&) {
    for (FlowId id = 0; id < readings_.size() && go_on(); ++id) {
      const auto& parts = readings_.parts(id);
      if (std::ranges::find(parts, suspect) == parts.end()) continue;
      const auto& seen = readings_.flow(id);
      for (int i = 0; i < nodes() && go_on(); ++i)
        if (const Flow flow{i, seen.to, seen.rail}; i != seen.from && tells(flow, suspect))
          return flow;
    }
    return std::nullopt;
  }

  const Topology& topology_;
  const Readings& readings_;
  int turn_;
  std::vector<bool> busy_, suspected_;
  std::vector<PartId> crossed_;
  std::vector<Flow> chosen_;
  int tries_ = 0;
};

}  // namespace

std::vector<Flow> next_test(const Readings& readings, const Culprits& culprits,
                            const std::vector<bool>& absent) {
  Chooser chooser{readings, absent};
  chooser.doubt(culprits);
  for (const auto& each : culprits.open)
    for (const auto part : each.parts) chooser.test(part);
  return chooser.chosen();
}

std::vector<Flow> test_of_parts(const Readings& readings, std::span<const PartId> parts,
                                const std::vector<bool>& absent, int turn) {
  Chooser chooser{readings, absent, turn};
  for (const auto part : parts) chooser.doubt(part);
  for (const auto part : parts) chooser.test(part);
  return chooser.chosen();
}

std::vector<Flow> unexplained_again(const Readings& readings, const Culprits& culprits,
                                    std::span<const Flow> already,
                                    const std::vector<bool>& absent) {
  std::map<int, int> partner;
  std::vector<Flow> flows;
  for (const auto id : culprits.unexplained) {
    const auto& flow = readings.flow(id);
    if (absent[static_cast<std::size_t>(flow.from)] || absent[static_cast<std::size_t>(flow.to)])
      continue;
    if (std::ranges::find(already, flow) != already.end()) continue;
    const auto from = partner.find(flow.from), to = partner.find(flow.to);
    const bool both_free = from == partner.end() && to == partner.end();
    const bool of_the_pair = from != partner.end() && from->second == flow.to;
    if (!both_free && !of_the_pair) continue;
    partner.try_emplace(flow.from, flow.to);
    partner.try_emplace(flow.to, flow.from);
    flows.push_back(flow);
  }
  return flows;
}

}  // namespace cupel::burnin::fabric
