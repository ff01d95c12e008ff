#include "burnin/criteria/own_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "burnin/criteria/fleet_measures.h"
#include "burnin/criteria/fleet_reference.h"
#include "burnin/criteria/robust.h"
#include "burnin/criteria/trend.h"
#include "burnin/measures/measure.h"

namespace cupel::burnin {
namespace {

constexpr double kFewestDegrees = 6;  // with fewer, the noise is not known
constexpr double kLeastLoss = 0.01;   // over the whole time; less is no finding

/// One part's numbers of one measure, by run: of each run the median.
struct PartSeries {
  std::map<std::int64_t, std::pair<double, std::vector<double>>> runs{};  // days, values
  std::vector<double> now{};

  std::vector<TimedValue> timed() const {
    std::vector<TimedValue> all;
    for (const auto& [run, found] : runs) all.push_back({found.first, median(found.second)});
    return all;
  }
};

struct KindSeries {
  std::string unit{};
  std::map<std::string, PartSeries> parts{};
};

std::map<SeriesKey, KindSeries> gathered(std::span<const EarlierValue> earlier,
                                         const FindingsByStage& findings) {
  std::map<SeriesKey, KindSeries> all;
  for (const auto& [stage, found] : findings)
    for (const auto& each : found.measurements) {
      const bool usable = is_plausible(each.value, each.unit) && each.value > 0;
      if (!usable || !is_fleet_measure(each.name)) continue;
      auto& series = all[{stage, each.name, kind_of_part(each.part)}];
      series.unit = each.unit;
      series.parts[each.part].now.push_back(each.value);
    }
  for (const auto& each : earlier) {
    const auto series = all.find({each.stage, each.measure, kind_of_part(each.part)});
    const bool usable = std::isfinite(each.value) && each.value > 0;
    if (series == all.end() || series->second.unit != each.unit || !usable) continue;
    const auto part = series->second.parts.find(each.part);
    if (part == series->second.parts.end()) continue;
    auto& [days, values] = part->second.runs[each.run];
    days = each.days;
    values.push_back(each.value);
  }
  return all;
}

struct Noise {
  double spread = 0;
  double degrees = 0;
};

/// How a part's numbers scatter about their own median, in all like parts together.
Noise noise_of(const KindSeries& series, double floor) {
  std::vector<double> rest;
  double medians = 0;
  for (const auto& [name, part] : series.parts) {
    if (part.runs.size() < 2) continue;
    std::vector<double> logs;
    for (const auto& each : part.timed()) logs.push_back(std::log(each.value));
    const double center = median(logs);
    for (const double each : logs) rest.push_back(each - center);
    ++medians;
  }
  Noise noise;
  const auto count = static_cast<double>(rest.size());
  noise.degrees = count - medians;
  if (noise.degrees <= 0) return noise;
  noise.spread = std::max(floor, trimmed_center(rest).spread * std::sqrt(count / noise.degrees));
  return noise;
}

class Comparer {
 public:
  Comparer(const SeriesKey& key, const KindSeries& series, double today,
           const FleetCriteria& limits, double series_of_kind)
      : key_{key},
        series_{series},
        today_{today},
        limits_{limits},
        alarms_{series_of_kind},
        noise_{noise_of(series, limits.history_noise)} {
    const auto* row = measure_row(key.measure);
    less_ = row != nullptr && row->better == Better::less;
  }

  void compare(std::vector<Compared>& into) const {
    std::optional<Compared> nearest;
    for (const auto& [name, part] : series_.parts) {
      const bool enough = static_cast<int>(part.runs.size()) >= limits_.fewest_runs &&
                          noise_.degrees >= kFewestDegrees && !part.now.empty();
      if (!enough) continue;
      auto beside = beside_baseline(name, part);
      if (beside.found == Likeness::alike)
        if (auto trend = worse_over_time(name, part)) beside = *std::move(trend);
      if (beside.found != Likeness::alike)
        into.push_back(std::move(beside));
      else if (!nearest || margin(beside) < margin(*nearest))
        nearest = std::move(beside);
    }
    if (nearest) into.push_back(*std::move(nearest));
  }

 private:
  Compared of(const std::string& part, Against against, std::size_t runs) const {
    return {.stage = key_.stage,
            .part = part,
            .measure = key_.measure,
            .unit = series_.unit,
            .against = against,
            .spread = noise_.spread,
            .others = static_cast<int>(runs),
            .less_is_better = less_};
  }

  Compared beside_baseline(const std::string& name, const PartSeries& part) const {
    constexpr double kMedian = 1.5;  // the variance of a median of n values is this / n
    auto result = of(name, Against::history, part.runs.size());
    std::vector<double> values;
    for (const auto& each : part.timed()) values.push_back(each.value);
    result.value = median(part.now);
    result.expected = median(values);
    const double unsure = std::sqrt(1 + kMedian / static_cast<double>(values.size()));
    const double reach =
        unsure * noise_.spread * alarm_limit(limits_.false_alarms / alarms_, noise_.degrees);
    result.limit = result.expected * std::exp(less_ ? reach : -reach);
    const bool worse = less_ ? result.value > result.limit : result.value < result.limit;
    if (worse) result.found = Likeness::outlier;
    return result;
  }

  std::optional<Compared> worse_over_time(const std::string& name, const PartSeries& part) const {
    auto timed = part.timed();
    timed.push_back({today_, median(part.now)});
    const auto trend = trend_of(timed, less_ ? Better::less : Better::more,
                                limits_.trend_alarms / alarms_, kLeastLoss);
    if (!trend.worse) return std::nullopt;
    auto result = of(name, Against::trend, timed.size());
    std::ranges::sort(timed, {}, &TimedValue::days);
    result.value = timed.back().value;
    result.expected = timed.front().value;
    result.limit = result.expected * (less_ ? 1 + kLeastLoss : 1 - kLeastLoss);
    result.found = Likeness::outlier;
    return result;
  }

  const SeriesKey& key_;
  const KindSeries& series_;
  double today_;
  const FleetCriteria& limits_;
  double alarms_;  // series of the kind, which share the false alarms
  Noise noise_;
  bool less_ = false;
};

}  // namespace

std::vector<Compared> compare_with_history(std::span<const EarlierValue> earlier,
                                           const FindingsByStage& findings, double today,
                                           const FleetCriteria& limits) {
  std::vector<Compared> result;
  if (earlier.empty()) return result;
  const auto all = gathered(earlier, findings);
  std::map<std::string, double> of_kind;
  for (const auto& [key, series] : all) ++of_kind[key.kind];
  for (const auto& [key, series] : all)
    Comparer{key, series, today, limits, of_kind[key.kind]}.compare(result);
  return result;
}

}  // namespace cupel::burnin
