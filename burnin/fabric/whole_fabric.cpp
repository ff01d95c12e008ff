#include "burnin/fabric/whole_fabric.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

constexpr double kLeastLoss = 0.05;   // of the whole: less is what another switch on the way costs
constexpr double kLeastSplit = 0.10;  // of all flows across
constexpr std::size_t kLeastFlows = 8;

/// Below which this share of them is; 0 to 1, without 1.
double level_at(std::vector<double> levels, double share) {
  const auto at = static_cast<double>(levels.size()) * share;
  const auto there = levels.begin() + static_cast<std::ptrdiff_t>(at);
  std::ranges::nth_element(levels, there);
  return *there;
}

double middle_level(const Readings& readings, const std::vector<FlowId>& flows) {
  return level_at(readings.middles(flows), 0.5);
}

class Finder {
 public:
  Finder(const Readings& readings, const Culprits& culprits)
      : readings_{readings}, topology_{readings.topology()} {
    for (const auto id : culprits.unexplained)
      if (readings.kind(id) == 1) slow_.push_back(id);
    std::set<std::tuple<int, int, int>> seen;
    for (FlowId id = 0; id < readings.size(); ++id) {
      if (readings.count(id) == 0) continue;
      const auto& flow = readings.flow(id);
      if (readings.kind(id) == 0)
        ++inside_;
      else if (seen.emplace(flow.from, flow.to, flow.rail).second)
        across_.push_back(id);
    }
  }

  WholeFabric find() {
    WholeFabric found;
    if (across_.size() < kLeastFlows) return found;
    const auto& [inside, across] = readings_.limits();
    const bool compares = inside_ >= kLeastFlows;
    const double loss = 1 - across.usual / inside.usual;
    // Where a slow part has half of the few flows, the middle lies between them and the others: the
    // best quarter says whether the whole is slow.
    const bool best_too = 1 - best_quarter() * across.usual / inside.usual >= loss / 2;
    if (compares && best_too && loss >= std::max({kLeastLoss, inside.margin, across.margin}))
      found.loss = loss;
    const double split = static_cast<double>(slow_.size()) / static_cast<double>(across_.size());
    if (split >= kLeastSplit && slow_.size() >= kLeastFlows) {
      found.split = split;
      found.split_level = middle_level(readings_, slow_);
    }
    found.collides = collides(compares ? across.usual / inside.usual : 1);
    found.between_few_nodes = is_between_few_nodes();
    if (!found.collides && !found.between_few_nodes) found.groups = groups();
    return found;
  }

 private:
  /// What the worst of the best quarter of the flows across carries, of the usual.
  double best_quarter() const {
    std::vector<double> levels;
    for (const auto id : across_) levels.push_back(readings_.best(id));
    return level_at(std::move(levels), 0.75);
  }

  /// Of 32 flows that a hash spreads over 32 uplinks, 37 of 100 share with one other, and 26 with
  /// more than one. One slow part has one rate.
  bool collides(double of_inside) const {
    constexpr double kHalves = 0.12, kThirds = 0.06;
    double halves = 0, thirds = 0;
    for (const auto id : across_) {
      const double share = readings_.best(id) * of_inside;
      if (readings_.evidence(id) <= 0) continue;
      halves += share > 0.42 && share < 0.58 ? 1 : 0;
      thirds += share <= 0.42 && share > 0.1 ? 1 : 0;
    }
    const auto all = static_cast<double>(across_.size());
    return halves >= kHalves * all && thirds >= kThirds * all;
  }

  /// On several rails of one pair or two: what is between these nodes, and no uplink.
  bool is_between_few_nodes() const {
    constexpr std::size_t kFewPairs = 2, kSeveralRails = 3;
    std::set<std::pair<int, int>> pairs;
    std::set<int> rails;
    for (const auto id : slow_) {
      const auto& flow = readings_.flow(id);
      pairs.insert(std::minmax(flow.from, flow.to));
      rails.insert(flow.rail);
    }
    return pairs.size() <= kFewPairs && rails.size() >= kSeveralRails;
  }

  /// The fewest leaves that each of these flows goes from or to: greedily the leaf with most.
  std::vector<UplinkGroup> groups() const {
    constexpr std::size_t kLeastOfALeaf = 2, kMostLeaves = 4;
    std::vector<UplinkGroup> found;
    auto left = slow_;
    std::set<int> concerned;
    for (const auto id : slow_)
      for (const int leaf : leaves_of(id)) concerned.insert(leaf);
    while (left.size() >= kLeastOfALeaf && found.size() < kMostLeaves) {
      std::map<int, std::size_t> of_leaf;
      for (const auto id : left)
        for (const int leaf : leaves_of(id)) ++of_leaf[leaf];
      std::size_t most = 0;
      for (const auto& [leaf, count] : of_leaf) most = std::max(most, count);
      if (most < kLeastOfALeaf) break;
      UplinkGroup group;
      for (const auto& [leaf, count] : of_leaf)
        if (count == most && group.leaves.size() < 2) group.leaves.push_back(leaf);
      if (group.leaves.size() == 2 && !same_flows(group.leaves, left)) group.leaves.pop_back();
      for (const auto id : left)
        if (crosses(id, group.leaves.front())) group.flows.push_back(id);
      std::erase_if(left, [&](FlowId id) { return crosses(id, group.leaves.front()); });
      group.level = middle_level(readings_, group.flows);
      found.push_back(std::move(group));
    }
    const bool few = left.size() < kLeastOfALeaf;
    if (few && 2 * found.size() <= std::max<std::size_t>(concerned.size(), 2)) return found;
    if (slow_.size() < kLeastFlows) return few ? found : std::vector<UplinkGroup>{};
    return {{{}, slow_, middle_level(readings_, slow_)}};
  }

  std::array<int, 2> leaves_of(FlowId id) const {
    const auto& flow = readings_.flow(id);
    return {topology_.port(flow.from, flow.rail).leaf, topology_.port(flow.to, flow.rail).leaf};
  }
  bool crosses(FlowId id, int leaf) const {
    const auto [from, to] = leaves_of(id);
    return from == leaf || to == leaf;
  }
  /// Between two leaves alone, each flow goes from one to the other.
  bool same_flows(const std::vector<int>& leaves, const std::vector<FlowId>& flows) const {
    return std::ranges::all_of(
        flows, [&](FlowId id) { return crosses(id, leaves[0]) == crosses(id, leaves[1]); });
  }

  const Readings& readings_;
  const Topology& topology_;
  std::vector<FlowId> slow_{};
  std::vector<FlowId> across_{};  // each flow once: slow ones are measured again in later rounds
  std::size_t inside_ = 0;
};

}  // namespace

WholeFabric whole_fabric(const Readings& readings, const Culprits& culprits) {
  return Finder{readings, culprits}.find();
}

}  // namespace cupel::burnin::fabric
