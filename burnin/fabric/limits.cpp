#include "burnin/fabric/limits.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cupel::burnin::fabric {
namespace {

constexpr double kLeastMargin = 0.025, kLeastNoise = 0.002;
constexpr double kMostMargin = 0.25, kMostAcross = 0.12;
constexpr double kOfOneAgain = 1.67;  // of the median of nine readings: four standard deviations
constexpr double kOfWhatStays = 4.5, kSureOfWhatStays = 12;
constexpr double kOfLongTail = 6;
constexpr double kDip = 6;  // standard deviations of a reading, below the best of nine

// Of a normal distribution, in its standard deviations: how far quantiles are from the median.
constexpr double kQuarter = 0.6745, kTenth = 1.2816, kTwentieth = 1.6449;
constexpr double kNormal = 1 / kQuarter;  // of the median deviation
constexpr std::size_t kEnoughForTenths = 100;

class Sorted {
 public:
  explicit Sorted(std::span<const double> values) : values_{values.begin(), values.end()} {
    std::ranges::sort(values_);
  }
  double at(double share) const {
    const double place = share * static_cast<double>(values_.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, values_.size() - 1);
    return std::lerp(values_[below], values_[above], place - static_cast<double>(below));
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

/// Standard deviation of what flows read, as far as no slow part widens it: above the middle none
/// reaches. Below it unequal links reach further than above: that counts up to twice as much, since
/// beyond it they are parts that are slow. `half_is_slow`: up to half of the flows may be, and only
/// the best are certainly not.
double deviation(const Sorted& flows, bool half_is_slow) {
  if (half_is_slow && flows.size() >= kEnoughForTenths)
    return (flows.at(0.9) - flows.at(0.75)) / (kTenth - kQuarter);
  const double above = kNormal * (flows.at(0.75) - flows.at(0.5)),
               below = kNormal * (flows.at(0.5) - flows.at(0.25));
  return half_is_slow || below > 2 * above ? above : std::max(above, below);
}

Sorted means_of(std::span<const Repeated> repeated) {
  std::vector<double> means;
  for (const auto& [one, two, three] : repeated) means.push_back((one + two + three) / 3);
  return Sorted{means};
}

/// Standard deviation of a reading by itself, by flows that were read three times: two differences
/// of each that are independent of each other.
double noise_of_repeats(std::span<const Repeated> repeated) {
  std::vector<double> apart;
  for (const auto& [one, two, three] : repeated) {
    apart.push_back(std::abs(one - two) / std::sqrt(2.0));
    apart.push_back(std::abs(one + two - 2 * three) / std::sqrt(6.0));
  }
  return kNormal * Sorted{apart}.at(0.5);
}

/// What stays, as the difference of two variances that are both estimated from so many values: up
/// to one standard error more than they say. Without it, a fleet whose links differ by as much as
/// its readings passes for one without any spread.
double what_stays(double all, std::size_t readings, double again, std::size_t repeats) {
  // Relative variances of a median deviation: of half of the readings, and of differences.
  constexpr double kOfHalf = 2.7, kOfDifferences = 1.36;
  const double of_all = 2 * all * all * std::sqrt(kOfHalf / static_cast<double>(readings));
  const double of_again =
      2 * again * again *
      std::sqrt(kOfDifferences / static_cast<double>(std::max<std::size_t>(repeats, 16)));
  const double error = std::hypot(of_all, of_again);
  return std::sqrt(std::max(all * all - again * again + error, 0.0));
}

/// Whether the readings reach further below the middle than above it, or fall off there more slowly
/// than a normal distribution: rates with a ceiling, and links that differ in one way alone. Of
/// those the slowest of thousands of healthy links lies much further out. Parts that are slow reach
/// further, too: where there are many of them, fewer are beyond doubt.
bool has_long_tail(const Sorted& readings) {
  constexpr std::size_t kEnough = 200, kEnoughForTail = 400;
  constexpr double kAsymmetry = 1.2;  // links by the slower end alone: 1.06; exponential: 2
  constexpr double kTail = 1.17;      // normal: 1; exponential: 1.2 to 1.4
  if (readings.size() < kEnough) return false;
  const double middle = readings.at(0.5), above = readings.at(0.9) - middle;
  if (middle - readings.at(0.1) > kAsymmetry * above) return true;
  const double quarter = (middle - readings.at(0.25)) / kQuarter,
               twentieth = (middle - readings.at(0.05)) / kTwentieth;
  return readings.size() >= kEnoughForTail && twentieth > kTail * quarter;
}

}  // namespace

double Limits::evidence(double reading) const {
  constexpr double kMostSlow = 5, kMostFast = -20;
  const double apart = reading / usual - (1 - margin);
  return std::clamp(-2 * margin * apart / (noise * noise), kMostFast, kMostSlow);
}

Limits learn_limits(std::span<const double> readings, std::span<const Repeated> repeated,
                    double floor, const Limits* inside) {
  constexpr std::size_t kEnough = 8, kEnoughRepeats = 16;
  Limits limits;
  if (readings.empty()) return limits;
  const bool across = inside != nullptr;
  const Sorted sorted{readings};
  limits.usual = std::max(sorted.at(0.5), 1e-6);
  const double below_floor = 1 - floor / limits.usual;
  if (sorted.size() < kEnough) {
    limits.margin = limits.sure = std::max(kLeastMargin, below_floor);
    return limits;
  }
  const auto means = means_of(repeated);
  if (across) {
    const auto& best = means.size() >= kEnoughForTenths ? means : sorted;
    limits.usual = std::max(best.at(0.75) - kQuarter * deviation(best, true), 1e-6);
  }
  const double usual = limits.usual;
  const double all = std::max(deviation(sorted, across) / usual, kLeastNoise);
  double again = all;
  if (means.size() >= kEnoughRepeats) {
    again = std::min(all, noise_of_repeats(repeated) / usual);
    limits.stays = what_stays(deviation(means, across) / usual, means.size(),
                              again / std::sqrt(3.0), 2 * means.size());
  } else {
    limits.stays = what_stays(all, sorted.size(), again, 0);
  }
  if (inside != nullptr) limits.stays = std::max(limits.stays, inside->stays);
  limits.noise = std::max(all, std::hypot(again, limits.stays));
  const bool has_tail = !across && has_long_tail(sorted);
  limits.margin = std::max(
      {kLeastMargin, kOfOneAgain * again, (has_tail ? kOfLongTail : kOfWhatStays) * limits.stays});
  limits.margin = std::min(limits.margin, std::max(inside == nullptr ? kMostMargin : kMostAcross,
                                                   2 * kOfOneAgain * again));
  // Links may differ in any shape; an exponential one is not always seen as a long tail.
  limits.sure = std::max(limits.margin, kSureOfWhatStays * limits.stays);
  if (inside != nullptr) limits.sure = std::max(limits.sure, inside->sure);
  if (floor > 0) {
    limits.margin = std::clamp(1 - floor / usual, kLeastMargin, limits.margin);
    limits.sure = std::clamp(1 - floor / usual, limits.margin, limits.sure);
  }
  limits.dip = std::max(limits.dip, kDip * again);
  return limits;
}

}  // namespace cupel::burnin::fabric
