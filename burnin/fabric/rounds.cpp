#include "burnin/fabric/rounds.h"

#include <algorithm>
#include <map>
#include <optional>

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

/// So many rounds that no uplink has two streams one way.
std::vector<Round> across(const Topology& topology, const Groups& places, std::size_t turn) {
  const int uplinks = topology.wiring().uplinks;
  std::map<int, Round> waves;
  for (const auto& [place, nodes] : places) {
    // Groups of an odd number rest in turn; not the same one at every place.
    const auto at = nodes.size() > 2 ? turn + static_cast<std::size_t>(place) : 0;
    const auto pairs = circle(nodes, at);
    auto& wave = waves[uplinks > 0 ? place / uplinks : 0];
    wave.insert(wave.end(), pairs.begin(), pairs.end());
  }
  std::vector<Round> rounds;
  for (auto& [number, wave] : waves)
    if (!wave.empty()) rounds.push_back(std::move(wave));
  return rounds;
}

}  // namespace

std::vector<Round> fixed_rounds(const Topology& topology) {
  Groups groups, places;
  for (int node = 0; node < topology.wiring().nodes; ++node)
    if (const auto seat = seat_of(topology, node)) {
      groups[seat->group].push_back(node);
      places[seat->place].push_back(node);
    }
  std::vector<Round> rounds;
  const std::size_t turns = groups.size() > 1 ? 2 : 3;
  for (std::size_t turn = 0; turn < turns; ++turn) rounds.push_back(inside(groups, turn));
  if (groups.size() > 1)
    for (const std::size_t turn : {0, 1})
      for (auto& wave : across(topology, places, turn)) rounds.push_back(std::move(wave));
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
