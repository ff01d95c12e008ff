#pragma once
// Records what each worker does, and since when. A worker without progress for too long hangs: the
// watchdog reports it with what it was doing and ends the program at once, since a thread inside a
// dead driver cannot be joined.
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
  /// The worker without progress for the longest time, if that is too long.
  std::optional<Late> late() const;

  struct Doing {
    std::string what;
    std::uint64_t round = 0;
  };
  /// What the slowest worker does; "waiting" where there is none.
  Doing doing() const;

  /// Called once before the program ends because of a hang: aborts what other processes wait for.
  void on_hang(std::function<void()> letting_go);
  /// Calls it and waits at most ten seconds, since it may hang as well.
  void let_go() const;

 private:
  friend class WatchdogScope;
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

/// Registers a worker with the watchdog until the scope ends. Used by one thread.
class WatchdogScope {
 public:
  WatchdogScope(Watchdog& watchdog, std::string part);
  ~WatchdogScope();
  WatchdogScope(const WatchdogScope&) = delete;
  WatchdogScope& operator=(const WatchdogScope&) = delete;

  /// Progress: from now on it does this.
  void doing(std::string_view what, std::uint64_t round = 0);
  /// Progress with the same.
  void alive();
  /// Waits for something without a time limit, such as the next phase of a load pattern.
  void idle();

 private:
  Watchdog& watchdog_;
  std::list<Watchdog::Worker>::iterator worker_;
};

/// The thread that checks the watchdog every second and prints the heartbeat. Ends with its scope.
class WatchdogThread {
 public:
  /// `ends` ends the program (_exit(3)); a test's returns.
  WatchdogThread(const Watchdog& watchdog, Report& report, double of_seconds,
                 std::function<void()> ends,
                 std::chrono::milliseconds every = std::chrono::seconds{1});
  ~WatchdogThread();

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
