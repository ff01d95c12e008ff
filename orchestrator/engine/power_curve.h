#pragma once
// What one level draws over time, in a bounded number of samples however long it takes. Each sample
// is the most that was drawn within its span: a peak is never averaged away.
#include <chrono>
#include <cstdint>
#include <vector>

namespace cupel::engine {

class PowerCurve {
 public:
  using Milliwatts = std::int64_t;

  /// So much from `at` on, and before it what was reported last. Times never go back.
  void draws(std::chrono::seconds at, Milliwatts power);
  Milliwatts peak() const { return peak_; }
  /// So many samples of the same length from 0 to `end`.
  std::vector<Milliwatts> samples(std::chrono::seconds end, std::size_t count) const;

 private:
  void reach(std::size_t bucket);

  std::vector<Milliwatts> most_{};  // of each span of `grain_` seconds
  std::int64_t grain_ = 1;
  Milliwatts now_ = 0;
  Milliwatts peak_ = 0;
};

}  // namespace cupel::engine
