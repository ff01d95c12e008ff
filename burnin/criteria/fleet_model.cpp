#include "burnin/criteria/fleet_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "burnin/criteria/conditions.h"
#include "burnin/criteria/robust.h"
#include "burnin/criteria/tail.h"

namespace cupel::burnin {
namespace {

using Values = std::vector<double>;

constexpr std::size_t kFewestMembers = 6;
constexpr std::size_t kFewestOfNode = 4;  // parts: with fewer, a part is not reported from its node
/// Of the false alarms that are allowed, what nodes may use: one of these accuses all parts.
constexpr double kShareOfNodes = 0.1;
/// What is learned of few nodes is less sure than Student's distribution says: limits are wider by
/// this share of a node. Found by tests/bench/fleet_criteria_bench.cpp.
constexpr double kOfFew = 0.5;
/// Share of healthy normal values of one series that may be called slow, which fails none; and how
/// far behind is slow at least: a share of the value, half as much again among few nodes.
constexpr double kSlowAlarms = 2.3e-4;
constexpr double kLeastSlow = 0.01;
/// So much of FleetLimits::least_effect is slow in any fleet.
constexpr double kSlowEffect = 0.9;
constexpr int kFewNodes = 16;
constexpr double kLeastOfFew = 1.5;
/// Two groups lie as far apart, at least: a share of the value, and twice that among few nodes,
/// where nearer ones are how few nodes happen to lie.
constexpr double kLeastApart = 0.015;
constexpr double kLeastApartOfFew = 2;
/// The variance of a median of n normal values is this / n.
constexpr double kMedian = 1.5;

bool is_sound(const FleetMember& member) { return std::isfinite(member.value) && member.value > 0; }

double turned(double value, bool less_is_better) {
  const double y = std::log(value);
  return less_is_better ? -y : y;
}

double squared(double value) { return value * value; }

/// The groups' own centres, each drawn to 0 by as much as chance would move it.
struct Groups {
  std::map<std::uint32_t, double> location{}, shrunk{};
  double between = 0;  // variance
};

double plain_variance(const Values& values) {
  if (values.size() < 2) return 0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double each : values) sum += squared(each - mean);
  return sum / static_cast<double>(values.size() - 1);
}

double drawn_to_nothing(double location, double between, double by_chance) {
  return between + by_chance <= 0 ? 0 : location * between / (between + by_chance);
}

/// `robust`: a few groups may be bad as a whole (nodes); else each counts (positions).
Groups groups_of(std::span<const std::uint32_t> group, const Values& values, bool robust) {
  Groups found;
  std::map<std::uint32_t, Values> by_group;
  for (std::size_t i = 0; i < values.size(); ++i) by_group[group[i]].push_back(values[i]);
  Values locations, rest, by_chance;
  for (auto& [id, some] : by_group) {
    const double location = median(some);
    found.location[id] = location;
    locations.push_back(location);
    for (const double each : some) rest.push_back(each - location);
  }
  const auto count = static_cast<double>(values.size());
  const double used = count - static_cast<double>(by_group.size());
  if (used <= 0) return found;
  const double within = squared(trimmed_center(rest).spread) * count / used;
  for (const auto& [id, some] : by_group)
    by_chance.push_back(kMedian * within / static_cast<double>(some.size()));
  const double between =
      robust ? squared(trimmed_center(locations).spread) : plain_variance(locations);
  found.between = std::max(0.0, between - median(by_chance));
  std::size_t i = 0;
  for (const auto& [id, location] : found.location)
    found.shrunk[id] = drawn_to_nothing(location, found.between, by_chance[i++]);
  return found;
}

/// The two groups into which the values fall best, where each is a third or more and they lie far
/// apart, `least` or more: what is halfway between. Nothing where they are one.
std::optional<double> divide_of(Values values, double noise, double least) {
  constexpr double kFar = 5;  // spreads of the wider group
  const auto count = values.size();
  if (count < 2 * kFewestMembers) return std::nullopt;
  std::ranges::sort(values);
  const double whole = std::accumulate(values.begin(), values.end(), 0.0);
  double sum = 0, best = -1;
  std::size_t at = 0;
  for (std::size_t i = 1; i < count; ++i) {
    sum += values[i - 1];
    if (3 * i < count || 3 * i > 2 * count) continue;
    const auto lower = static_cast<double>(i), upper = static_cast<double>(count - i);
    const double apart = squared(sum / lower - (whole - sum) / upper) * lower * upper;
    if (apart > best) {
      best = apart;
      at = i;
    }
  }
  const auto lower = trimmed_center(std::span{values}.first(at));
  const auto upper = trimmed_center(std::span{values}.subspan(at));
  const double width = std::max({lower.spread, upper.spread, noise});
  const double apart = upper.location - lower.location;
  if (apart < std::max(kFar * width, least)) return std::nullopt;
  return (upper.location + lower.location) / 2;
}

class Learner {
 public:
  Learner(const Population& population, const FleetLimits& limits, Corrections corrections)
      : limits_{limits}, corrections_{corrections} {
    model_.less_is_better = population.better == Better::less;
    for (const auto& each : population.members) {
      if (!is_sound(each)) continue;
      members_.push_back(&each);
      values_.push_back(turned(each.value, model_.less_is_better));
      node_.push_back(each.node);
      position_.push_back(each.position);
    }
    auto nodes = node_;
    std::ranges::sort(nodes);
    model_.nodes = nodes.size() - std::ranges::unique(nodes).size();
    model_.members = members_.size();
  }

  FleetModel learn() {
    const bool enough = static_cast<int>(model_.nodes) >= std::max(limits_.fewest_nodes, 3) &&
                        model_.members >= kFewestMembers;
    if (!enough) return model_;
    model_.state = Comparison::State::judged;
    correct();
    auto rest = values_;
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= without_node_[i] + of_node_[i];
    const bool few = model_.nodes < kFewNodes;
    const double apart = (few ? kLeastApartOfFew : 1) * kLeastApart;
    if (const auto divide = divide_of(parts_and_nodes(), limits_.noise, apart)) {
      model_.state = Comparison::State::split;
      model_.divide = *divide;
    }
    const auto center = trimmed_center(rest);
    model_.center += center.location;
    model_.divide -= center.location;
    const auto count = static_cast<double>(rest.size());
    const double degrees = std::max(1.0, count - parameters());
    model_.spread = std::max(center.spread * std::sqrt(count / degrees), limits_.noise);
    for (auto& each : rest) each = center.location - each;
    std::tie(model_.part_slow, model_.part_limit) =
        slow_and_limit(rest, model_.spread, degrees, (1 - kShareOfNodes) * limits_.false_alarms);
    if (model_.node_spread > 0)
      std::tie(model_.node_slow, model_.node_limit) = slow_and_limit(
          nodes_behind_, model_.node_spread, static_cast<double>(nodes_behind_.size()) - 1,
          kShareOfNodes * limits_.false_alarms);
    return model_;
  }

 private:
  Values parts_and_nodes() const {
    auto values = values_;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= without_node_[i];
    return values;
  }

  /// Both in spreads. `behind`: of each value, from their centre.
  std::pair<double, double> slow_and_limit(const Values& behind, double spread, double degrees,
                                           double alarms) const {
    static constexpr double kMost = 0.95;  // a limit is above 0
    const bool few = static_cast<int>(model_.nodes) < kFewNodes;
    const double more = few ? kLeastOfFew : 1;
    const double wider = 1 + kOfFew / static_cast<double>(model_.nodes);
    const double effect = limits_.least_effect.value_or(kLeastEffect);
    const auto lower = [](double share) { return -std::log1p(-std::min(share, kMost)); };
    const double by_chance = wider * alarm_limit(kSlowAlarms, degrees) * spread;
    const double least = lower(more * kLeastSlow);
    const double slow =
        std::min(std::max(by_chance, least), std::max(least, lower(kSlowEffect * effect)));
    // The spread of few values may be learned too small.
    const double unsure = wider * alarm_limit(alarms, degrees) / -normal_quantile(alarms);
    // The tail is one of shares: on the logarithm it reaches further.
    const double tail = unsure * tail_limit(behind, spread, alarms);
    return {slow / spread, lower(std::max(tail, more * effect)) / spread};
  }

  bool has_nodes() const {
    return corrections_.nodes && model_.members >= kFewestOfNode * model_.nodes;
  }

  double parameters() const {
    return static_cast<double>(std::max<std::size_t>(model_.positions.size(), 1) +
                               model_.conditions.size()) +
           share_of_nodes_ * static_cast<double>(model_.nodes);
  }

  void correct() {
    constexpr int kRounds = 3;
    model_.center = trimmed_center(values_).location;
    of_node_.assign(values_.size(), 0);
    without_node_.assign(values_.size(), model_.center);
    Values of_position(values_.size(), 0), of_condition(values_.size(), 0);
    const auto rest = [&](const Values& left_out, const Values& also) {
      auto values = values_;
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] -= model_.center + left_out[i] + also[i];
      return values;
    };
    for (int round = 0; round < kRounds; ++round) {
      if (corrections_.positions) {
        model_.positions = groups_of(position_, rest(of_condition, of_node_), false).shrunk;
        for (std::size_t i = 0; i < values_.size(); ++i)
          of_position[i] = model_.positions[position_[i]];
      }
      if (corrections_.conditions) {
        const Values nothing(values_.size(), 0);
        model_.conditions = fit_conditions(members_, rest(of_position, nothing));
        for (std::size_t i = 0; i < values_.size(); ++i)
          of_condition[i] = effect_of(model_.conditions, *members_[i]);
      }
      for (std::size_t i = 0; i < values_.size(); ++i)
        without_node_[i] = model_.center + of_position[i] + of_condition[i];
      if (has_nodes()) correct_nodes();
    }
  }

  void correct_nodes() {
    const auto groups = groups_of(node_, parts_and_nodes(), true);
    Values locations;
    for (const auto& [node, location] : groups.location) locations.push_back(location);
    const auto center = trimmed_center(locations);
    nodes_behind_.clear();
    for (const double each : locations) nodes_behind_.push_back(center.location - each);
    for (std::size_t i = 0; i < values_.size(); ++i) of_node_[i] = groups.shrunk.at(node_[i]);
    model_.node_prior = groups.between;
    model_.node_spread = std::max(center.spread, limits_.noise);
    double shrunk = 0, whole = 0;
    for (const auto& [node, location] : groups.location) {
      shrunk += std::abs(groups.shrunk.at(node));
      whole += std::abs(location);
    }
    share_of_nodes_ = whole > 0 ? shrunk / whole : 0;
  }

  FleetLimits limits_;
  Corrections corrections_;
  FleetModel model_{};
  std::vector<const FleetMember*> members_{};
  Values values_{}, of_node_{}, without_node_{};
  Values nodes_behind_{};  // how far each node lies behind their centre
  std::vector<std::uint32_t> node_{}, position_{};
  double share_of_nodes_ = 0;  // how much of their centres is taken for theirs
};

double expected_of(const FleetModel& model, const FleetMember& member) {
  const auto position = model.positions.find(member.position);
  return model.center + (position == model.positions.end() ? 0 : position->second) +
         effect_of(model.conditions, member);
}

/// What the whole node is beyond what is expected of its parts, and how much of it is its own.
struct OfNode {
  double location = 0, shrunk = 0;
  bool slow = false, outlier = false;
};

OfNode node_of(const FleetModel& model, std::span<const FleetMember> members) {
  Values rest;
  for (const auto& each : members)
    if (is_sound(each))
      rest.push_back(turned(each.value, model.less_is_better) - expected_of(model, each));
  if (model.node_spread <= 0 || rest.size() < kFewestOfNode) return {};
  const auto count = static_cast<double>(rest.size());
  OfNode found{.location = median(std::move(rest))};
  const double by_chance = kMedian * squared(model.spread) / count;
  found.shrunk = drawn_to_nothing(found.location, model.node_prior, by_chance);
  found.outlier = found.location < -model.node_limit * model.node_spread;
  found.slow = !found.outlier && found.location < -model.node_slow * model.node_spread;
  return found;
}

}  // namespace

FleetModel learn(const Population& population, const FleetLimits& limits, Corrections corrections) {
  return Learner{population, limits, corrections}.learn();
}

std::vector<Standing> standings(const FleetModel& model, std::span<const FleetMember> of_one_node) {
  if (model.state == Comparison::State::too_few) return {};
  const bool split = model.state == Comparison::State::split;
  const auto node = node_of(model, of_one_node);
  std::vector<Standing> found;
  for (const auto& member : of_one_node) {
    auto& standing = found.emplace_back();
    if (!is_sound(member)) continue;
    const double y = turned(member.value, model.less_is_better);
    const double plain = expected_of(model, member);
    const auto stand = [&](double expected, double spread, double slow, double limit) {
      const auto back = [&](double at) { return std::exp(model.less_is_better ? -at : at); };
      standing.expected = back(expected);
      standing.score = (expected - y) / spread;
      standing.outlier = !split && standing.score > limit;
      standing.slow = !split && !standing.outlier && standing.score > slow;
      standing.limit = back(expected - (standing.outlier ? limit : slow) * spread);
    };
    constexpr double kNone = std::numeric_limits<double>::infinity();
    if (node.outlier)
      stand(plain, model.node_spread, model.node_slow, model.node_limit);
    else
      stand(plain + node.shrunk, model.spread, model.part_slow, model.part_limit);
    if (node.slow && !standing.outlier && !standing.slow)
      stand(plain, model.node_spread, model.node_slow, kNone);
    standing.doubtful = split && y - plain < model.divide;
  }
  return found;
}

Comparison fleet_comparison(const Population& population, const FleetLimits& limits,
                            Corrections corrections) {
  const auto model = learn(population, limits, corrections);
  Comparison result;
  result.state = model.state;
  if (model.state == Comparison::State::too_few) return result;
  result.spread = model.spread;
  result.typical = std::exp(model.less_is_better ? -model.center : model.center);
  result.standings.resize(population.members.size());
  std::map<std::uint32_t, std::vector<std::size_t>> by_node;
  for (std::size_t i = 0; i < population.members.size(); ++i)
    by_node[population.members[i].node].push_back(i);
  for (const auto& [node, places] : by_node) {
    std::vector<FleetMember> own;
    for (const auto place : places) own.push_back(population.members[place]);
    const auto found = standings(model, own);
    for (std::size_t i = 0; i < places.size(); ++i) result.standings[places[i]] = found[i];
  }
  return result;
}

}  // namespace cupel::burnin
