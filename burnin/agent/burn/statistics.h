#pragma once
// Samples of one figure: their median, and how far they lie apart.
#include <cstddef>
#include <vector>

namespace cupel::burn {

class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values);

  /// Of many samples every second one is let go, again and again: at most 64 Ki are kept, spread
  /// evenly over the whole run.
  void add(double value);

  /// How many were taken in.
  std::size_t count() const { return count_; }
  /// By linear interpolation between the neighbours; 0 <= quantile <= 1. NaN without samples.
  double quantile(double quantile) const;
  double median() const { return quantile(0.5); }
  /// 100 * (p95 - p5) / median, in percent. NaN without samples, 0 where all are alike.
  double spread() const;
  /// Those that were kept.
  const std::vector<double>& kept() const { return values_; }

 private:
  std::vector<double> values_;
  std::size_t count_ = 0;
  std::size_t stride_ = 1;
};

}  // namespace cupel::burn
