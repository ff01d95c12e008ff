#pragma once
// Reads a GPU's power in a thread of its own: the driver may take 50 ms to answer, in which the
// thread that queues products would leave the GPU idle.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "burnin/agent/burn/statistics.h"

namespace cupel::burn {

class PowerSampler {
 public:
  /// `read` returns watts, or nothing where the GPU does not report them. The first reading is
  /// after `every`, when the load is there. Ends with its scope.
  explicit PowerSampler(std::function<std::optional<double>()> read,
                        std::chrono::milliseconds every = std::chrono::seconds{1});
  ~PowerSampler();
  PowerSampler(const PowerSampler&) = delete;
  PowerSampler& operator=(const PowerSampler&) = delete;

  /// Those taken until now.
  Samples samples() const;

 private:
  void sample(std::chrono::milliseconds every);

  const std::function<std::optional<double>()> read_;
  mutable std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  Samples samples_;
  std::thread thread_;
};

}  // namespace cupel::burn
