#include "burnin/fabric/rounds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

constexpr int kNobody = -1;

/// Round `turn` of the circle method: the first stays, the others move on by one place.
Round circle(std::vector<int> all, std::size_t turn) {
  if (all.size() < 2) return {};
  if (all.size() % 2 == 1) all.push_back(kNobody);
  const auto moved = static_cast<std::ptrdiff_t>(turn % (all.size() - 1));
  std::rotate(all.begin() + 1, all.begin() + 1 + moved, all.end());
  Round round;
  for (std::size_t i = 0; i < all.size() / 2; ++i) {
    const Pair pair{all[i], all[all.size() - 1 - i]};
    if (pair.one != kNobody && pair.other != kNobody) round.push_back(pair);
  }
  return round;
}

struct Seat {
  int group = 0, place = 0;
};

/// By the first rail on which the node has a link.
std::optional<Seat> seat_of(const Topology& topology, int node) {
  for (int rail = 0; rail < topology.wiring().rails; ++rail)
    if (const auto& port = topology.port(node, rail); port.leaf >= 0)
      return Seat{port.leaf, port.place};
  return std::nullopt;
}

using Groups = std::map<int, std::vector<int>>;

Round inside(const Groups& groups, std::size_t turn) {
  Round round;
  for (const auto& [group, nodes] : groups) {
    const auto pairs = circle(nodes, turn);
    round.insert(round.end(), pairs.begin(), pairs.end());
  }
  return round;
}

/// Pairs of nodes at the same place of two groups.
Round across(const Groups& places, std::size_t turn) {
  Round round;
  for (const auto& [place, nodes] : places) {
    // Groups of an odd number rest in turn; not the same one at every place.
    const auto at = nodes.size() > 2 ? turn + static_cast<std::size_t>(place) : 0;
    const auto pairs = circle(nodes, at);
    round.insert(round.end(), pairs.begin(), pairs.end());
  }
  return round;
}

/// Each way of each uplink that its flows take, by the tables; nothing where one of them says none.
std::vector<std::pair<int, int>> uplinks_of(const Topology& topology, const Pair& pair) {
  std::vector<Flow> flows;
  add_flows(topology, pair, flows);
  std::vector<std::pair<int, int>> taken;
  const int uplinks = topology.wiring().uplinks;
  for (const auto& flow : flows) {
    const auto route = topology.across(flow) ? topology.route(flow) : std::nullopt;
    if (!route) continue;
    taken.emplace_back(0, topology.port(flow.from, flow.rail).leaf * uplinks + route->up);
    taken.emplace_back(1, topology.port(flow.to, flow.rail).leaf * uplinks + route->down);
  }
  return taken;
}

/// So many rounds that no uplink has two streams one way: by the tables, where they are known.
/// Pairs that would need more rounds than kMostWaves are left out.
std::vector<Round> waves(const Topology& topology, const Round& all,
                         const std::map<int, int>& place_of) {
  constexpr std::size_t kMost = kMostWaves;
  const auto& wiring = topology.wiring();
  const bool knows_routes = wiring.routing == Routing::by_destination && !wiring.routes.empty();
  std::vector<Round> rounds;
  std::vector<std::set<std::pair<int, int>>> busy;
  for (const auto& pair : all) {
    const auto taken =
        knows_routes ? uplinks_of(topology, pair) : std::vector<std::pair<int, int>>{};
    const auto is_free = [&](std::size_t wave) {
      return wave >= busy.size() || std::ranges::none_of(taken, [&](const auto& uplink) {
               return busy[wave].contains(uplink);
             });
    };
    std::size_t wave = 0;
    if (knows_routes)
      while (wave < kMost && !is_free(wave)) ++wave;
    else if (wiring.uplinks > 0)
      wave = static_cast<std::size_t>(place_of.at(pair.one) / wiring.uplinks);
    if (wave >= kMost) continue;
    if (wave >= rounds.size()) {
      rounds.resize(wave + 1);
      busy.resize(wave + 1);
    }
    rounds[wave].push_back(pair);
    busy[wave].insert(taken.begin(), taken.end());
  }
  return rounds;
}

}  // namespace

std::size_t pairs_left_out(const Topology& topology, std::span<const Round> rounds) {
  Groups places;
  std::map<int, int> group_of;
  for (int node = 0; node < topology.wiring().nodes; ++node)
    if (const auto seat = seat_of(topology, node)) {
      places[seat->place].push_back(node);
      group_of[node] = seat->group;
    }
  std::size_t planned = 0, there = 0;
  for (const std::size_t turn : {0, 1}) planned += across(places, turn).size();
  for (const auto& round : rounds)
    there += static_cast<std::size_t>(std::ranges::count_if(
        round, [&](const Pair& pair) { return group_of.at(pair.one) != group_of.at(pair.other); }));
  return planned > there ? planned - there : 0;
}

std::vector<Round> fixed_rounds(const Topology& topology) {
  Groups groups, places;
  std::map<int, int> place_of;
  for (int node = 0; node < topology.wiring().nodes; ++node)
    if (const auto seat = seat_of(topology, node)) {
      groups[seat->group].push_back(node);
      places[seat->place].push_back(node);
      place_of[node] = seat->place;
    }
  std::vector<Round> rounds;
  const std::size_t turns = groups.size() > 1 ? 2 : 3;
  for (std::size_t turn = 0; turn < turns; ++turn) rounds.push_back(inside(groups, turn));
  if (groups.size() > 1)
    for (const std::size_t turn : {0, 1})
      for (auto& wave : waves(topology, across(places, turn), place_of))
        rounds.push_back(std::move(wave));
  std::erase_if(rounds, [](const Round& round) { return round.empty(); });
  return rounds;
}

void add_flows(const Topology& topology, const Pair& pair, std::vector<Flow>& flows) {
  for (int rail = 0; rail < topology.wiring().rails; ++rail) {
    const Flow flow{pair.one, pair.other, rail};
    if (!topology.connected(flow)) continue;
    flows.push_back(flow);
    flows.push_back({pair.other, pair.one, rail});
  }
}

}  // namespace cupel::burnin::fabric
