#include "burnin/agent/burn/power_sampler.h"

namespace cupel::burn {

PowerSampler::PowerSampler(std::function<std::optional<double>()> read,
                           std::chrono::milliseconds every)
    : read_{std::move(read)}, thread_{[this, every] { sample(every); }} {}

PowerSampler::~PowerSampler() {
  {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
  }
  over_.notify_all();
  thread_.join();
}

Samples PowerSampler::samples() const {
  const std::scoped_lock lock{mutex_};
  return samples_;
}

void PowerSampler::sample(std::chrono::milliseconds every) {
  std::unique_lock lock{mutex_};
  while (!over_.wait_for(lock, every, [this] { return is_over_; })) {
    lock.unlock();
    const auto watts = read_();
    lock.lock();
    if (watts) samples_.add(*watts);
  }
}

}  // namespace cupel::burn
