#include "burnin/criteria/fleet_reference.h"

#include <algorithm>
#include <cmath>

#include "burnin/criteria/fleet_measures.h"
#include "burnin/criteria/robust.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostNodes = 1024;  // of a series: more make it no more exact
constexpr std::size_t kMostParts = 1024;  // of a node in a series
constexpr std::size_t kMostSeries = 2048;

/// One part's numbers of one measure.
struct Readings {
  std::vector<double> values{};
  std::string unit{};
};

/// Numbers of a stage that are compared, by measure and part; and what else was measured of parts.
struct StageNumbers {
  std::map<std::pair<std::string, std::string>, Readings> rates{};
  std::map<std::string, Covariates> beside{};
  double inlet = std::nan("");
};

StageNumbers numbers_of(const Findings& findings) {
  StageNumbers found;
  std::map<std::string_view, bool> known;
  for (const auto& each : findings.measurements) {
    if (!is_plausible(each.value, each.unit)) continue;
    if (const auto covariate = covariate_of(each.name)) {
      if (*covariate == Covariate::inlet) found.inlet = each.value;
      auto [beside, fresh] = found.beside.try_emplace(each.part, no_covariates());
      beside->second[static_cast<std::size_t>(*covariate)] = each.value;
    }
    const auto [is_rate, fresh] = known.try_emplace(each.name, false);
    if (fresh) is_rate->second = is_fleet_measure(each.name);
    if (!is_rate->second) continue;
    auto& readings = found.rates[{each.name, each.part}];
    readings.values.push_back(each.value);
    readings.unit = each.unit;
  }
  return found;
}

FleetMember member_of(const StageNumbers& numbers, const std::string& measure,
                      const std::string& part, std::vector<double> values, double inlet) {
  FleetMember member{.value = median(std::move(values))};
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
  std::vector<FleetMember> members{};
  std::vector<std::string> parts{};
};

std::map<SeriesKey, OwnSeries> own_series(const FleetReference& reference,
                                          const FindingsByStage& findings) {
  std::map<SeriesKey, OwnSeries> own;
  double inlet = std::nan("");
  std::map<std::string, StageNumbers> stages;
  for (const auto& [stage, found] : findings) {
    auto numbers = numbers_of(found);
    if (std::isfinite(numbers.inlet)) inlet = numbers.inlet;
    stages.emplace(stage, std::move(numbers));
  }
  for (auto& [stage, numbers] : stages)
    for (auto& [name, readings] : numbers.rates) {
      const auto& [measure, part] = name;
      SeriesKey key{stage, measure, kind_of_part(part)};
      const auto series = reference.series.find(key);
      if (series == reference.series.end() || series->second.unit != readings.unit) continue;
      auto member = member_of(numbers, measure, part, std::move(readings.values), inlet);
      const auto& positions = series->second.positions;
      member.position =
          static_cast<std::uint32_t>(std::ranges::find(positions, part) - positions.begin());
      auto& of_key = own[std::move(key)];
      of_key.members.push_back(member);
      of_key.parts.push_back(part);
    }
  return own;
}

Compared compared(const SeriesKey& key, const FleetReference::Series& series,
                  const std::string& part, const FleetMember& member, const Standing& standing) {
  Compared result{.stage = key.stage,
                  .part = part,
                  .measure = key.measure,
                  .unit = series.unit,
                  .against = Against::fleet,
                  .value = member.value,
                  .expected = standing.expected,
                  .limit = standing.limit,
                  .spread = series.model.spread,
                  .others = static_cast<int>(series.model.nodes) - 1,
                  .less_is_better = series.model.less_is_better};
  if (standing.outlier) result.found = Likeness::outlier;
  if (standing.doubtful) result.found = Likeness::doubtful;
  return result;
}

}  // namespace

void FleetSamples::take(const std::string& node, const std::string& stage,
                        const Findings& findings) {
  auto numbers = numbers_of(findings);
  if (numbers.rates.empty() && !std::isfinite(numbers.inlet)) return;
  const auto id = nodes_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size())).first->second;
  if (std::isfinite(numbers.inlet)) inlets_[id] = numbers.inlet;
  std::map<SeriesKey, std::vector<FleetMember>> own;
  for (auto& [name, readings] : numbers.rates) {
    const auto& [measure, part] = name;
    SeriesKey key{stage, measure, kind_of_part(part)};
    if (!series_.contains(key) && series_.size() == kMostSeries) continue;
    auto& series = series_[key];
    if (series.unit.empty()) series.unit = readings.unit;
    const bool full = series.members.size() == kMostNodes && !series.members.contains(id);
    if (full || series.unit != readings.unit) continue;
    auto position = series.position.find(part);
    if (position == series.position.end()) {
      if (series.positions.size() == kMostParts) continue;
      const auto next = static_cast<std::uint32_t>(series.positions.size());
      position = series.position.emplace(part, next).first;
      series.positions.push_back(part);
    }
    auto member = member_of(numbers, measure, part, std::move(readings.values), std::nan(""));
    member.node = id;
    member.position = position->second;
    own[key].push_back(member);
  }
  for (auto& [key, members] : own) series_[key].members[id] = std::move(members);
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

FleetReference FleetSamples::learn(const FleetLimits& limits) const {
  FleetReference reference;
  reference.nodes = nodes_.size();
  std::map<std::string, double> of_kind;
  for (const auto& [key, series] : series_) ++of_kind[key.kind];
  for (const auto& [key, series] : series_) {
    if (static_cast<int>(series.members.size()) < limits.fewest_nodes) continue;
    auto own = limits;
    own.false_alarms /= of_kind[key.kind];
    auto model = burnin::learn(population(key, series), own);
    if (model.state == Comparison::State::too_few) continue;
    reference.series.emplace(
        key, FleetReference::Series{std::move(model), series.unit, series.positions});
  }
  return reference;
}

std::vector<Compared> compare(const FleetReference& reference, const FindingsByStage& findings,
                              bool all) {
  std::vector<Compared> result;
  for (const auto& [key, own] : own_series(reference, findings)) {
    const auto& series = reference.series.at(key);
    const auto found = standings(series.model, own.members);
    std::optional<Compared> nearest;
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto each = compared(key, series, own.parts[i], own.members[i], found[i]);
      if (!std::isfinite(each.limit) || found[i].limit <= 0) continue;
      if (all || each.found != Likeness::alike)
        result.push_back(std::move(each));
      else if (!nearest || margin(each) < margin(*nearest))
        nearest = std::move(each);
    }
    if (nearest) result.push_back(*std::move(nearest));
  }
  return result;
}

}  // namespace cupel::burnin
