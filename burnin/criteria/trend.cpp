#include "burnin/criteria/trend.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "burnin/criteria/robust.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kFewest = 6, kMost = 400;
constexpr double kShortest = 14;  // days

/// How many of n! orders of n different values have this S or a smaller one, as a share: for few
/// values the normal approximation is worth little.
double exact_chance(std::size_t count, int s) {
  std::vector<double> ways{1};  // by inversions
  for (std::size_t n = 2; n <= count; ++n) {
    std::vector<double> next(ways.size() + n - 1, 0);
    for (std::size_t i = 0; i < ways.size(); ++i)
      for (std::size_t k = 0; k < n; ++k) next[i + k] += ways[i] / static_cast<double>(n);
    ways = std::move(next);
  }
  const auto pairs = static_cast<int>(count * (count - 1) / 2);
  double sum = 0;
  for (int inversions = 0; inversions <= pairs; ++inversions)
    if (pairs - 2 * inversions <= s) sum += ways[static_cast<std::size_t>(inversions)];
  return std::min(sum, 1.0);
}

double normal_chance(std::span<const TimedValue> series, int s) {
  const auto n = static_cast<double>(series.size());
  double variance = n * (n - 1) * (2 * n + 5);
  std::map<double, double> ties;
  for (const auto& each : series) ++ties[each.value];
  for (const auto& [value, t] : ties) variance -= t * (t - 1) * (2 * t + 5);
  variance /= 18;
  if (variance <= 0) return 1;
  return std::erfc(-(s + 1) / std::sqrt(variance) / std::sqrt(2.0)) / 2;
}

}  // namespace

Trend trend_of(std::span<const TimedValue> all, Better better, double false_alarms, double noise) {
  Trend trend;
  std::vector<TimedValue> series;
  for (const auto& each : all)
    if (std::isfinite(each.value) && std::isfinite(each.days)) series.push_back(each);
  std::ranges::sort(series, {}, &TimedValue::days);
  if (series.size() > kMost) series.erase(series.begin(), series.end() - kMost);
  if (series.size() < kFewest) return trend;
  const double span = series.back().days - series.front().days;
  if (span < kShortest || better == Better::neither) return trend;
  trend.enough = true;
  const double sign = better == Better::less ? -1 : 1;
  int s = 0;
  bool tied = false;
  std::vector<double> slopes, values;
  for (std::size_t i = 0; i < series.size(); ++i) {
    values.push_back(series[i].value);
    for (std::size_t j = 0; j < i; ++j) {
      const double rise = sign * (series[i].value - series[j].value);
      s += (rise > 0) - (rise < 0);
      tied |= rise == 0;
      const double days = series[i].days - series[j].days;
      if (days > 0) slopes.push_back((series[i].value - series[j].value) / days);
    }
  }
  constexpr std::size_t kExact = 40;
  trend.chance =
      series.size() <= kExact && !tied ? exact_chance(series.size(), s) : normal_chance(series, s);
  const double typical = std::abs(median(std::move(values)));
  if (typical <= 0) return trend;
  const double slope = median(std::move(slopes)) / typical;
  trend.per_month = 30 * slope;
  trend.lost = std::max(0.0, -sign * slope * span);
  trend.worse = trend.chance <= false_alarms && trend.lost > noise;
  return trend;
}

}  // namespace cupel::burnin
