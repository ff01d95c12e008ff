#include "burnin/criteria/own_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "burnin/criteria/fleet_measures.h"
#include "burnin/criteria/fleet_reference.h"
#include "burnin/criteria/robust.h"
#include "burnin/criteria/trend.h"
#include "burnin/measures/measure.h"

namespace cupel::burnin {
namespace {

constexpr double kFewestDegrees = 6;  // with fewer, the noise is not known
constexpr double kLeastLoss = 0.01;   // a share; less is no finding
/// Share of healthy normal values of one series that may be called slow, which fails none.
constexpr double kSlowAlarms = 2.3e-4;
constexpr double kSlowEffect = 1.5;  // times what an outlier needs: slow, however wide the noise
/// The noise of a rate has a ceiling and a tail below it. An exponential tail reaches so many times
/// as far as a normal one, and farther than Student's with 4 degrees of freedom.
constexpr double kSkew = 2.5;

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

/// Logarithms of one kind's numbers in one run, and today: by part.
using ByPart = std::map<std::string_view, double>;

/// What all parts of a node have in common in one run is not their own: a driver, the room, a
/// cooler day. Of few parts it cannot be distinguished from theirs.
std::optional<double> common_shift(const ByPart& values, const ByPart& baseline) {
  constexpr std::size_t kFewest = 4;
  std::vector<double> apart;
  for (const auto& [part, value] : values)
    if (const auto own = baseline.find(part); own != baseline.end())
      apart.push_back(value - own->second);
  if (apart.size() < kFewest) return std::nullopt;
  return median(std::move(apart));
}

/// What one kind of part has reached in earlier runs, and how it scatters from run to run.
struct Baseline {
  ByPart usual{};                  // of each part, without what its runs had in common
  double spread = 0, degrees = 0;  // of a part's numbers about its usual one
  double shift_spread = 0;         // of what runs had in common
  double shift_degrees = 0;

  Baseline(const KindSeries& series, double floor);
};

/// The median of a part's runs, without what each run had in common.
ByPart usual_of(const std::map<std::int64_t, ByPart>& runs,
                const std::map<std::int64_t, double>& shifts) {
  std::map<std::string_view, std::vector<double>> values;
  for (const auto& [run, parts] : runs)
    for (const auto& [part, value] : parts) values[part].push_back(value - shifts.at(run));
  ByPart usual;
  for (auto& [part, some] : values) usual[part] = median(std::move(some));
  return usual;
}

Baseline::Baseline(const KindSeries& series, double floor) {
  std::map<std::int64_t, ByPart> runs;
  for (const auto& [name, part] : series.parts)
    for (const auto& [run, found] : part.runs) runs[run][name] = std::log(median(found.second));
  std::map<std::int64_t, double> shifts;
  for (const auto& [run, parts] : runs) shifts[run] = 0;
  constexpr int kRounds = 3;
  double shifted = 0;
  for (int round = 0; round < kRounds; ++round) {
    usual = usual_of(runs, shifts);
    std::vector<double> known;
    shifted = 0;
    for (const auto& [run, parts] : runs) {
      const auto shift = common_shift(parts, usual);
      shifts[run] += shift.value_or(0);
      if (!shift) continue;
      known.push_back(shifts[run]);
      ++shifted;
    }
    // What all runs have in common is the parts' own.
    const double center = median(std::move(known));
    for (auto& [run, shift] : shifts)
      if (shift != 0) shift -= center;
  }
  usual = usual_of(runs, shifts);
  // About the mean, and all of it: of three runs one deviation from the median is always 0, so that
  // what a robust spread takes for noise is far too little.
  std::map<std::string_view, std::vector<double>> values;
  for (const auto& [run, parts] : runs)
    for (const auto& [part, value] : parts) values[part].push_back(value - shifts.at(run));
  double squares = 0;
  for (const auto& [part, some] : values) {
    if (some.size() < 2) continue;
    const double mean =
        std::accumulate(some.begin(), some.end(), 0.0) / static_cast<double>(some.size());
    for (const double each : some) squares += (each - mean) * (each - mean);
    degrees += static_cast<double>(some.size() - 1);
  }
  if (shifted > 1) degrees -= shifted - 1;
  spread = std::max(floor, degrees > 0 ? std::sqrt(squares / degrees) : 0);
  shift_degrees = std::max(0.0, shifted - 1);
  squares = 0;
  for (const auto& [run, shift] : shifts) squares += shift * shift;
  shift_spread = std::max(floor, shift_degrees > 0 ? std::sqrt(squares / shift_degrees) : 0);
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
        effect_{limits.least_effect.value_or(least_effect(key.measure))},
        baseline_{series, limits.history_noise} {
    const auto* row = measure_row(key.measure);
    less_ = row != nullptr && row->better == Better::less;
    ByPart now;
    for (const auto& [name, part] : series.parts)
      if (!part.now.empty()) now[name] = std::log(median(part.now));
    shift_ = common_shift(now, baseline_.usual).value_or(0);
  }

  void compare(std::vector<Compared>& into) const {
    std::optional<Compared> nearest;
    for (const auto& [name, part] : series_.parts) {
      const bool enough = static_cast<int>(part.runs.size()) >= limits_.fewest_runs &&
                          baseline_.degrees >= kFewestDegrees && !part.now.empty();
      if (!enough) continue;
      auto beside = beside_baseline(name, part);
      auto trend = worse_over_time(name, part);
      if (trend && static_cast<int>(trend->found) > static_cast<int>(beside.found))
        beside = *std::move(trend);
      if (beside.found != Likeness::alike)
        into.push_back(std::move(beside));
      else if (!nearest || margin(beside) < margin(*nearest))
        nearest = std::move(beside);
    }
    if (nearest) into.push_back(*std::move(nearest));
  }

 private:
  /// How far behind is slow, and how far is an outlier, on the logarithm.
  struct Reach {
    double slow = 0, outlier = 0;
  };

  Compared of(const std::string& part, Against against, std::size_t runs) const {
    return {.stage = key_.stage,
            .part = part,
            .measure = key_.measure,
            .unit = series_.unit,
            .against = against,
            .spread = baseline_.spread,
            .others = static_cast<int>(runs),
            .less_is_better = less_};
  }

  Reach reach(double spread, double degrees, double runs) const {
    constexpr double kMedian = 1.5;  // the variance of a median of n values is this / n
    const double unsure = std::sqrt(1 + kMedian / runs) * spread;
    const double slow = -std::log1p(-kLeastLoss), effect = -std::log1p(-effect_);
    return {
        std::min(std::max(slow, unsure * alarm_limit(kSlowAlarms, degrees)), kSlowEffect * effect),
        std::max(effect, kSkew * unsure * alarm_limit(limits_.false_alarms / alarms_, degrees))};
  }

  /// Beside itself, without what all parts of this run have in common; and with it, where that
  /// alone is beyond what runs have in common.
  Compared beside_baseline(const std::string& name, const PartSeries& part) const {
    auto result = of(name, Against::history, part.runs.size());
    result.value = median(part.now);
    const double sign = less_ ? -1 : 1;  // then less is worse
    const double usual = sign * baseline_.usual.at(name), shift = sign * shift_;
    const double now = sign * std::log(result.value);
    const auto runs = static_cast<double>(part.runs.size());
    const auto own = reach(baseline_.spread, baseline_.degrees, runs);
    auto common = reach(baseline_.shift_spread, baseline_.shift_degrees, runs);
    // Of few runs it is not known how far they may lie apart.
    if (baseline_.shift_degrees < kFewestDegrees)
      common.outlier = std::numeric_limits<double>::infinity();
    const bool of_node = -shift > common.slow && shift - now + usual <= own.slow;
    const auto& limits = of_node ? common : own;
    const double expected = of_node ? usual : usual + shift;
    // Each part of a node that is worse as a whole is as far behind as the whole.
    const double away = of_node ? -shift : expected - now;
    if (away > limits.slow) result.found = Likeness::slow;
    if (away > limits.outlier) result.found = Likeness::outlier;
    const double limit = result.found == Likeness::outlier ? limits.outlier : limits.slow;
    result.expected = std::exp(sign * expected);
    result.limit = std::exp(sign * (expected - limit));
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
    const bool much = trend.lost > effect_ && trend.chance <= limits_.false_alarms / alarms_;
    const double least = much ? effect_ : kLeastLoss;
    result.limit = result.expected * (less_ ? 1 + least : 1 - least);
    result.found = much ? Likeness::outlier : Likeness::slow;
    // Every one of its runs was a measurement of it.
    if (much) result.again = fmt::format("{} runs", timed.size());
    return result;
  }

  const SeriesKey& key_;
  const KindSeries& series_;
  double today_;
  const FleetCriteria& limits_;
  double alarms_;  // series of the kind, which share the false alarms
  double effect_;  // what is less behind is no outlier
  Baseline baseline_;
  double shift_ = 0;  // what all parts have in common today
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
