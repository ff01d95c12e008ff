#include "burnin/criteria/cdf_similarity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cupel::burnin {
namespace {

double mean(const std::vector<double>& sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(sample.size(), 1));
}

/// The sample whose similarities to all that remain have the largest sum.
std::size_t most_typical(const std::vector<std::vector<double>>& similarity,
                         const std::vector<bool>& left_out) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < similarity.size(); ++i) {
    if (left_out[i]) continue;
    double sum = 0;
    for (std::size_t j = 0; j < similarity.size(); ++j)
      if (!left_out[j]) sum += similarity[i][j];
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  return best;
}

}  // namespace

double cdf_similarity(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 0;
  const double largest = std::max(a.back(), b.back());
  if (largest <= 0) return 1;
  const double step_a = 1.0 / static_cast<double>(a.size());
  const double step_b = 1.0 / static_cast<double>(b.size());
  std::size_t i = 0, j = 0;
  double at = std::min(a.front(), b.front()), area = 0;
  while (i < a.size() || j < b.size()) {
    const double difference =
        std::abs(static_cast<double>(i) * step_a - static_cast<double>(j) * step_b);
    const bool next_is_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const double next = next_is_a ? a[i++] : b[j++];
    area += difference * (next - at);
    at = next;
  }
  return 1 - area / largest;
}

CdfCriterion cdf_criterion(const std::vector<std::vector<double>>& samples, double alpha,
                           bool more_is_better) {
  const auto count = samples.size();
  std::vector similarity(count, std::vector<double>(count, 1));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      similarity[i][j] = similarity[j][i] = cdf_similarity(samples[i], samples[j]);
  CdfCriterion result{std::vector<bool>(count, false), 0};
  for (bool changed = true; changed;) {
    changed = false;
    result.typical = most_typical(similarity, result.defective);
    const double middle = count == 0 ? 0 : mean(samples[result.typical]);
    for (std::size_t i = 0; i < count; ++i) {
      const bool worse = (mean(samples[i]) < middle) == more_is_better;
      if (result.defective[i] || !worse || similarity[i][result.typical] > alpha) continue;
      result.defective[i] = changed = true;
    }
  }
  return result;
}

}  // namespace cupel::burnin
