#include "burnin/criteria/robust.h"

#include <algorithm>
#include <cmath>

namespace cupel::burnin {
namespace {

constexpr double kNormal = 1.4826;  // a normal distribution's deviation, in its median deviations
constexpr double kCut = 2.5;        // deviations
/// Of a normal distribution that was cut there, the deviation's share of the whole one's.
constexpr double kCutShare = 0.95459;

double polynomial(std::span<const double> factors, double x) {
  double sum = 0;
  for (const double factor : factors) sum = sum * x + factor;
  return sum;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Center median_center(std::span<const double> values) {
  Center center{median({values.begin(), values.end()}), 0};
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double each : values) deviations.push_back(std::abs(each - center.location));
  center.spread = kNormal * median(std::move(deviations));
  return center;
}

Center trimmed_center(std::span<const double> values) {
  constexpr int kRounds = 20;
  auto center = median_center(values);
  std::size_t before = 0;
  for (int round = 0; round < kRounds && center.spread > 0; ++round) {
    double sum = 0, squares = 0;
    std::size_t kept = 0;
    for (const double each : values) {
      const double away = each - center.location;
      if (std::abs(away) > kCut * center.spread) continue;
      sum += away;
      squares += away * away;
      ++kept;
    }
    if (kept < 3 || kept == before) break;
    before = kept;
    const auto count = static_cast<double>(kept);
    const double mean = sum / count;
    const double variance = std::max(0.0, (squares - count * mean * mean) / (count - 1));
    center = {center.location + mean, std::sqrt(variance) / kCutShare};
  }
  return center;
}

double normal_quantile(double share) {
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                           6.680131188771972e+01,  -1.328068155288572e+01, 1};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00, 1};
  constexpr double kLow = 0.02425;
  if (share > 1 - kLow) return -normal_quantile(1 - share);
  if (share < kLow) {
    const double q = std::sqrt(-2 * std::log(share));
    return polynomial(kC, q) / polynomial(kD, q);
  }
  const double q = share - 0.5, r = q * q;
  return polynomial(kA, r) * q / polynomial(kB, r);
}

double alarm_limit(double false_alarms, double degrees) {
  constexpr double kFewest = 4;  // below, the series is worth nothing
  const double z = -normal_quantile(std::clamp(false_alarms, 1e-12, 0.4));
  const double n = std::max(degrees, kFewest);
  const double z2 = z * z;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + first / n + second / (n * n) + third / (n * n * n);
}

}  // namespace cupel::burnin
