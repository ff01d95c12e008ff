#include "burnin/criteria/fleet_reference.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "burnin/criteria/fleet_measures.h"
#include "burnin/criteria/robust.h"
#include "burnin/criteria/sorted_numbers.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostNodes = 1024;  // of a series: more make it no more exact
constexpr std::size_t kMostParts = 1024;  // of a node in a series
constexpr std::size_t kMostSeries = 2048;

/// Numbers of a stage that are compared; and what else was measured of parts. They point into the
/// findings that they were made of.
struct StageNumbers {
  SortedNumbers rates{};
  std::map<std::string_view, Covariates> beside{};
  double inlet = std::nan("");
};

StageNumbers numbers_of(const Findings& findings) {
  StageNumbers found;
  for (const auto& each : findings.measurements) {
    const auto covariate = covariate_of(each.name);
    if (!covariate || !is_plausible(each.value, each.unit)) continue;
    if (*covariate == Covariate::inlet) found.inlet = each.value;
    auto [beside, fresh] = found.beside.try_emplace(each.part, no_covariates());
    beside->second[static_cast<std::size_t>(*covariate)] = each.value;
  }
  std::string_view measure;
  bool is_rate = false;
  for (const auto* each : sorted_numbers(findings)) {
    if (measure != each->name) is_rate = is_fleet_measure(measure = each->name);
    if (is_rate && is_plausible(each->value, each->unit)) found.rates.push_back(each);
  }
  return found;
}

FleetMember member_of(const StageNumbers& numbers, NumbersOfSome of_one_part, double inlet) {
  std::vector<double> values;
  for (const auto* each : of_one_part) values.push_back(each->value);
  FleetMember member{.value = median(std::move(values))};
  const auto& [measure, part] = std::tie(of_one_part.front()->name, of_one_part.front()->part);
  // A clock is not explained by what it explains.
  if (covariate_of(measure)) return member;
  const auto beside = numbers.beside.find(part);
  if (beside != numbers.beside.end()) member.covariates = beside->second;
  member.covariates[static_cast<std::size_t>(Covariate::inlet)] = inlet;
  return member;
}

Better better_of(const std::string& measure) {
  const auto* row = measure_row(measure);
  return row == nullptr ? Better::neither : row->better;
}

/// A machine's own members of one series, with the names of their parts.
struct OwnSeries {
  const FleetReference::Series* series = nullptr;
  std::vector<FleetMember> members{};
  std::vector<std::string_view> parts{};
};

using OwnByKey = std::map<SeriesKey, OwnSeries>;

void add_own(const FleetReference& reference, const std::string& stage, const StageNumbers& numbers,
             double inlet, OwnByKey& own) {
  for (NumbersOfSome rest = numbers.rates; !rest.empty();) {
    const auto some = take_first_part(rest);
    const auto& part = some.back()->part;
    const auto [found, fresh] =
        own.try_emplace(SeriesKey{stage, some.back()->name, kind_of_part(part)});
    auto& of_key = found->second;
    if (fresh) {
      const auto series = reference.series.find(found->first);
      if (series != reference.series.end()) of_key.series = &series->second;
    }
    if (of_key.series == nullptr || of_key.series->unit != some.back()->unit) continue;
    const auto& positions = of_key.series->positions;
    auto member = member_of(numbers, some, inlet);
    member.position =
        static_cast<std::uint32_t>(std::ranges::find(positions, part) - positions.begin());
    of_key.members.push_back(member);
    of_key.parts.push_back(part);
  }
}

OwnByKey own_series(const FleetReference& reference, const FindingsByStage& findings) {
  double inlet = std::nan("");
  std::map<std::string_view, StageNumbers> stages;
  for (const auto& [stage, found] : findings) {
    auto numbers = numbers_of(found);
    if (std::isfinite(numbers.inlet)) inlet = numbers.inlet;
    stages.emplace(stage, std::move(numbers));
  }
  OwnByKey own;
  for (const auto& [stage, found] : findings)
    add_own(reference, stage, stages.at(stage), inlet, own);
  return own;
}

/// Without names, which only few of them need.
Compared compared(const FleetReference::Series& series, const FleetMember& member,
                  const Standing& standing) {
  Compared result{.against = Against::fleet,
                  .value = member.value,
                  .expected = standing.expected,
                  .limit = standing.limit,
                  .spread = series.model.spread,
                  .others = static_cast<int>(series.model.nodes) - 1,
                  .less_is_better = series.model.less_is_better};
  if (standing.slow) result.found = Likeness::slow;
  if (standing.outlier) result.found = Likeness::outlier;
  if (standing.doubtful) result.found = Likeness::doubtful;
  return result;
}

Compared named(Compared compared, const SeriesKey& key, const OwnSeries& own, std::size_t place) {
  compared.stage = key.stage;
  compared.part = own.parts[place];
  compared.measure = key.measure;
  compared.unit = own.series->unit;
  return compared;
}

}  // namespace

void FleetSamples::take(const std::string& node, const std::string& stage,
                        const Findings& findings) {
  auto numbers = numbers_of(findings);
  if (numbers.rates.empty() && !std::isfinite(numbers.inlet)) return;
  const auto id = nodes_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size())).first->second;
  if (std::isfinite(numbers.inlet)) take_inlet(id, numbers.inlet);
  std::map<Series*, std::vector<FleetMember>> own;
  for (NumbersOfSome rest = numbers.rates; !rest.empty();) {
    const auto some = take_first_part(rest);
    const auto& [measure, part, unit] =
        std::tie(some.back()->name, some.back()->part, some.back()->unit);
    SeriesKey key{stage, measure, kind_of_part(part)};
    if (!series_.contains(key) && series_.size() == kMostSeries) continue;
    auto& series = series_[std::move(key)];
    if (series.unit.empty()) series.unit = unit;
    const bool full = series.members.size() == kMostNodes && !series.members.contains(id);
    if (full || series.unit != unit) continue;
    auto position = series.position.find(part);
    if (position == series.position.end()) {
      if (series.positions.size() == kMostParts) continue;
      const auto next = static_cast<std::uint32_t>(series.positions.size());
      position = series.position.emplace(part, next).first;
      series.positions.push_back(part);
    }
    auto member = member_of(numbers, some, std::nan(""));
    member.node = id;
    member.position = position->second;
    own[&series].push_back(member);
  }
  for (auto& [series, members] : own) {
    series->members[id] = std::move(members);
    series->learned.reset();
  }
}

void FleetSamples::take_inlet(std::uint32_t node, double inlet) {
  const auto [found, fresh] = inlets_.try_emplace(node, inlet);
  if (!fresh && found->second == inlet) return;
  found->second = inlet;
  for (auto& [key, series] : series_)
    if (series.members.contains(node)) series.learned.reset();
}

Population FleetSamples::population(const SeriesKey& key, const Series& series) const {
  Population population{.better = better_of(key.measure)};
  std::vector<std::uint32_t> nodes;
  for (const auto& [node, members] : series.members) nodes.push_back(node);
  std::ranges::sort(nodes);  // the same result whatever the order of the map
  const bool explained = !covariate_of(key.measure);
  for (const auto node : nodes)
    for (auto member : series.members.at(node)) {
      const auto inlet = inlets_.find(node);
      if (explained && inlet != inlets_.end())
        member.covariates[static_cast<std::size_t>(Covariate::inlet)] = inlet->second;
      population.members.push_back(member);
    }
  return population;
}

FleetReference FleetSamples::learn(const FleetLimits& limits) {
  FleetReference reference;
  reference.nodes = nodes_.size();
  std::map<std::string, double> of_kind;
  for (const auto& [key, series] : series_) ++of_kind[key.kind];
  for (auto& [key, series] : series_) {
    if (static_cast<int>(series.members.size()) < limits.fewest_nodes) continue;
    auto own = limits;
    own.false_alarms /= of_kind[key.kind];
    own.least_effect = limits.least_effect.value_or(least_effect(key.measure));
    if (!series.learned || series.learned->limits != own)
      series.learned = {own, burnin::learn(population(key, series), own)};
    const auto& model = series.learned->model;
    if (model.state == Comparison::State::too_few) continue;
    reference.series.emplace(key, FleetReference::Series{model, series.unit, series.positions});
  }
  return reference;
}

std::vector<NodeInStage> FleetSamples::nodes_in(const FleetReference& reference,
                                                std::string_view stage) const {
  std::map<std::uint32_t, NodeInStage> found;
  for (const auto& [key, learned] : reference.series) {
    const auto series = series_.find(key);
    if (key.stage != stage || series == series_.end()) continue;
    std::map<std::uint32_t, std::vector<FleetMember>> by_node;
    for (const auto& member : population(key, series->second).members)
      by_node[member.node].push_back(member);
    for (const auto& [id, own] : by_node) {
      auto& node = found[id];
      for (const auto& each : standings(learned.model, own)) {
        node.farthest = std::max(node.farthest, std::abs(each.score));
        node.stands_out |= each.outlier;
        node.is_alike &= !each.outlier && !each.slow && !each.doubtful;
      }
    }
  }
  std::vector<NodeInStage> nodes;
  for (const auto& [name, id] : nodes_) {
    const auto node = found.find(id);
    if (node == found.end()) continue;
    node->second.node = name;
    nodes.push_back(std::move(node->second));
  }
  std::ranges::sort(nodes, {},
                    [](const NodeInStage& each) { return std::tie(each.farthest, each.node); });
  return nodes;
}

std::vector<Compared> compare(const FleetReference& reference, const FindingsByStage& findings,
                              bool all) {
  std::vector<Compared> result;
  for (const auto& [key, own] : own_series(reference, findings)) {
    if (own.series == nullptr) continue;
    const auto found = standings(own.series->model, own.members);
    std::optional<std::pair<Compared, std::size_t>> nearest;
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto each = compared(*own.series, own.members[i], found[i]);
      if (!std::isfinite(each.limit) || found[i].limit <= 0) continue;
      if (all || each.found != Likeness::alike)
        result.push_back(named(std::move(each), key, own, i));
      else if (!nearest || margin(each) < margin(nearest->first))
        nearest = {std::move(each), i};
    }
    if (nearest) result.push_back(named(std::move(nearest->first), key, own, nearest->second));
  }
  return result;
}

}  // namespace cupel::burnin
