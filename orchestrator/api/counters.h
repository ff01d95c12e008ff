#pragma once
// What the service counts of itself, for /metrics. From any thread.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace cupel::api {

struct Counters {
  static constexpr std::array<double, 8> kSeconds{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

  std::array<std::atomic<std::uint64_t>, 6> by_class{};  // of the status: 2 is 2xx
  std::array<std::atomic<std::uint64_t>, kSeconds.size() + 1> by_time{};
  std::atomic<std::uint64_t> microseconds{0};
  std::atomic<std::uint64_t> refused_logins{0};
  std::atomic<std::uint64_t> events_sent{0};
  std::atomic<std::uint64_t> notices_sent{0};
  std::atomic<std::uint64_t> notices_failed{0};  // given up, or left out of a full queue

  void count(unsigned status, std::chrono::microseconds took) {
    ++by_class[std::min<std::size_t>(status / 100, by_class.size() - 1)];
    std::size_t at = 0;
    while (at < kSeconds.size() && std::chrono::duration<double>(took).count() > kSeconds[at]) ++at;
    ++by_time[at];
    microseconds += static_cast<std::uint64_t>(took.count());
  }
};

}  // namespace cupel::api
