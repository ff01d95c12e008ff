#pragma once
// A share of bandwidth: who wants to send reserves bytes and is informed when they may go. Fair
// where each who sends has one reservation at a time: they are served in turn. Used from several
// threads.
#include <chrono>
#include <cstdint>
#include <mutex>

namespace cupel::images {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  /// So much may go ahead of the rate, after a time in which nothing went.
  static constexpr std::chrono::milliseconds kBurst{50};

  explicit Pace(std::uint64_t bytes_per_second) : rate_{bytes_per_second} {}

  /// When so many bytes may go.
  Clock::time_point reserve(std::uint64_t bytes, Clock::time_point now = Clock::now());

 private:
  const std::uint64_t rate_;
  std::mutex mutex_{};
  Clock::time_point next_{};
};

}  // namespace cupel::images
