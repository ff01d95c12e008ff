#include "orchestrator/engine/power_curve.h"

#include <algorithm>

namespace cupel::engine {
namespace {

constexpr std::int64_t kMostSpans = 512;

}  // namespace

void PowerCurve::reach(std::size_t bucket) {
  if (most_.size() <= bucket) most_.resize(bucket + 1, now_);
}

void PowerCurve::draws(std::chrono::seconds at, Milliwatts power) {
  while (at.count() / grain_ >= kMostSpans) {
    for (std::size_t i = 0; i < most_.size(); i += 2)
      most_[i / 2] = std::max(most_[i], i + 1 < most_.size() ? most_[i + 1] : 0);
    most_.resize((most_.size() + 1) / 2);
    grain_ *= 2;
  }
  const auto bucket = static_cast<std::size_t>(at.count() / grain_);
  reach(bucket);
  most_[bucket] = std::max(most_[bucket], power);
  now_ = power;
  peak_ = std::max(peak_, power);
}

std::vector<PowerCurve::Milliwatts> PowerCurve::samples(std::chrono::seconds end,
                                                        std::size_t count) const {
  std::vector<Milliwatts> sampled(count, 0);
  const auto length = std::max<std::int64_t>(end.count(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(i), all = static_cast<std::int64_t>(count);
    const auto first = static_cast<std::size_t>(number * length / all / grain_);
    const auto past = ((number + 1) * length / all + grain_ - 1) / grain_;
    auto last = std::max(static_cast<std::size_t>(std::max<std::int64_t>(past, 1)) - 1, first);
    for (auto at = first; at <= last; ++at)
      sampled[i] = std::max(sampled[i], at < most_.size() ? most_[at] : now_);
  }
  return sampled;
}

}  // namespace cupel::engine
