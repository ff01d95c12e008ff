#include "burnin/agent/burn/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cupel::burn {
namespace {

constexpr std::size_t kMostKept = 65'536;

}  // namespace

Samples::Samples(std::vector<double> values) {
  for (const double value : values) add(value);
}

void Samples::add(double value) {
  if (count_++ % stride_ != 0) return;
  values_.push_back(value);
  if (values_.size() < kMostKept) return;
  for (std::size_t at = 0; at < values_.size() / 2; ++at) values_[at] = values_[2 * at];
  values_.resize(values_.size() / 2);
  stride_ *= 2;
}

double Samples::quantile(double quantile) const {
  if (values_.empty()) return std::numeric_limits<double>::quiet_NaN();
  // NaN has no order: one among the samples makes every figure of them none.
  if (std::ranges::any_of(values_, [](double value) { return std::isnan(value); }))
    return std::numeric_limits<double>::quiet_NaN();
  auto sorted = values_;
  std::ranges::sort(sorted);
  const double place = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double Samples::spread() const {
  const double width = quantile(0.95) - quantile(0.05);
  if (width == 0) return 0;
  return 100 * width / std::abs(median());
}

}  // namespace cupel::burn
