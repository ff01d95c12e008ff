#pragma once
// Who does what, since when. A worker that makes no progress for long hangs: that is said with what
// it was doing, and the program ends at once, since a thread within a dead driver cannot be joined.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "burnin/agent/burn/report.h"

namespace cupel::burn {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  explicit Watchdog(std::chrono::duration<double> hang_after, Now now = Clock::now);

  struct Late {
    std::string part;
    std::string doing;
    double seconds = 0;
  };
  /// Who has made no progress for longest, if for too long.
  std::optional<Late> late() const;

  struct Doing {
    std::string what;
    std::uint64_t round = 0;
  };
  /// What the one who is behind all others does; "waiting" without any.
  Doing doing() const;

  /// Called once before the program ends for a hang: aborts what other processes would wait for.
  void on_hang(std::function<void()> letting_go);
  /// Calls it, and waits for at most ten seconds: it may hang as well.
  void let_go() const;

 private:
  friend class Seat;
  struct Worker {
    std::string part{};
    std::string doing{};
    std::uint64_t round = 0;
    Clock::time_point since{};
    bool idle = true;
  };

  const std::chrono::duration<double> hang_after_;
  const Now now_;
  mutable std::mutex mutex_;
  std::list<Worker> workers_;
  std::function<void()> letting_go_;
};

/// A worker's place before the watchdog, for as long as it works. One thread's.
class Seat {
 public:
  Seat(Watchdog& watchdog, std::string part);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  /// Progress: from now on it does this.
  void doing(std::string_view what, std::uint64_t round = 0);
  /// Progress with the same.
  void alive();
  /// Waits for what may take however long, such as the next beat of a pattern.
  void idle();

 private:
  Watchdog& watchdog_;
  std::list<Watchdog::Worker>::iterator worker_;
};

/// The thread that looks every second and gives the heartbeat. Ends with its scope.
class Vigil {
 public:
  /// `ends` does not return in earnest: _exit(3).
  Vigil(const Watchdog& watchdog, Report& report, double of_seconds, std::function<void()> ends,
        std::chrono::milliseconds every = std::chrono::seconds{1});
  ~Vigil();

 private:
  void watch(std::chrono::milliseconds every);

  const Watchdog& watchdog_;
  Report& report_;
  const double of_seconds_;
  const std::function<void()> ends_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace cupel::burn
