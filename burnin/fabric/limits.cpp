#include "burnin/fabric/limits.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cupel::burnin::fabric {
namespace {

constexpr double kLeastMargin = 0.025, kLeastNoise = 0.002;
constexpr double kOfOneAgain = 1.67;  // of the median of nine readings: four standard deviations
constexpr double kOfWhatStays = 4.5, kByChance = 1.2;
constexpr double kNormal = 1.4826;  // of the median deviation of a normal distribution

/// Of a normal distribution with outliers below: what is above the median is not among them.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// By the readings above the median, where no slow part reaches; where those below reach further,
/// as unequal links have it, by them, up to twice as much.
double noise_of(std::span<const double> readings, double usual) {
  std::vector<double> above, below;
  for (const double each : readings)
    (each >= usual ? above : below).push_back(std::abs(each - usual));
  if (above.empty() || below.empty()) return 0;
  const double up = kNormal * median_of(above), down = kNormal * median_of(below);
  return std::clamp(down, up, 2 * up) / usual;
}

/// Of one reading, by those that were repeated; `otherwise` where too few were.
double noise_of_repeats(std::span<const Repeated> repeated, double usual, double otherwise) {
  constexpr std::size_t kEnough = 16;
  if (repeated.size() < kEnough) return otherwise;
  std::vector<double> apart;
  for (const auto& [one, other] : repeated) apart.push_back(std::abs(one - other));
  return std::min(otherwise, kNormal * median_of(apart) / std::sqrt(2.0) / usual);
}

}  // namespace

double Limits::evidence(double reading) const {
  constexpr double kMostSlow = 5, kMostFast = -20;
  const double apart = reading / usual - (1 - margin);
  return std::clamp(-2 * margin * apart / (noise * noise), kMostFast, kMostSlow);
}

Limits learn_limits(std::span<const double> readings, std::span<const Repeated> repeated,
                    double floor) {
  constexpr std::size_t kEnough = 8;
  Limits limits;
  std::vector<double> all{readings.begin(), readings.end()};
  if (!all.empty()) limits.usual = std::max(median_of(all), 1e-6);
  if (all.size() < kEnough) {
    limits.margin = std::max(kLeastMargin, 1 - floor / limits.usual);
    return limits;
  }
  limits.noise = std::max(noise_of(readings, limits.usual), kLeastNoise);
  const double again = noise_of_repeats(repeated, limits.usual, limits.noise);
  // Both are estimates: what they differ by chance is nothing that stays.
  const double by_chance = kByChance * again;
  const double stays =
      std::sqrt(std::max(limits.noise * limits.noise - by_chance * by_chance, 0.0));
  limits.margin = std::max({kLeastMargin, kOfOneAgain * again, kOfWhatStays * stays});
  if (floor > 0) limits.margin = std::clamp(1 - floor / limits.usual, kLeastMargin, limits.margin);
  return limits;
}

}  // namespace cupel::burnin::fabric
