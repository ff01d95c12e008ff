#pragma once
// Slows down whoever guesses: after some refused logins from an address, of IPv6 from its /64, it
// must wait, twice as long each time. Who shows a right secret is never slowed down: 256 bits are
// not guessed, and others could shut them out. Bounded; used from several threads.
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace cupel::api {

class LoginLimits {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  /// `now`: may be called from several threads.
  explicit LoginLimits(Now now = Clock::now) : now_{std::move(now)} {}

  Clock::time_point now() const { return now_(); }
  /// How long `who` must wait; 0: it may try.
  std::chrono::seconds wait(const std::string& who, Clock::time_point now);
  void refused(const std::string& who, Clock::time_point now);
  void accepted(const std::string& who);

  static constexpr int kFree = 5;
  static constexpr std::chrono::seconds kLongest{300};
  static constexpr std::chrono::minutes kForgotten{30};
  static constexpr std::size_t kMost = 10'000;

 private:
  struct Record {
    int refused = 0;
    Clock::time_point until{};
    Clock::time_point last{};
  };
  Now now_;
  std::mutex mutex_{};
  std::map<std::string, Record> records_{};
};

/// So many requests a second from one person, with bursts of twice as many, or of `burst`. Bounded;
/// used from several threads.
class RequestRate {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RequestRate(double per_second, double burst = 0)
      : per_second_{per_second}, burst_{burst} {}
  void limit(double per_second);
  bool may(const std::string& who, Clock::time_point now);

 private:
  struct Bucket {
    double left = 0;
    Clock::time_point at{};
  };
  std::mutex mutex_{};
  double per_second_;
  double burst_;
  std::map<std::string, Bucket> buckets_{};
};

/// Which refusals are written down, each with an fsync: of an address the first five and then one a
/// minute, of all addresses sixty and then ten a minute. Used from several threads.
class RefusalNotes {
 public:
  bool may(const std::string& address, RequestRate::Clock::time_point now) {
    return of_one_.may(address, now) && of_all_.may({}, now);
  }

 private:
  RequestRate of_one_{1.0 / 60, 5}, of_all_{10.0 / 60, 60};
};

}  // namespace cupel::api
