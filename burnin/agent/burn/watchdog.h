#pragma once
// Records what each worker does, and since when. A worker without progress for too long hangs: the
// watchdog reports it with what it was doing (which GPU: hang.h) and ends the program, since a
// thread inside a dead driver cannot be joined.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "burnin/agent/burn/hang.h"
#include "burnin/agent/burn/report.h"

namespace cupel::burn {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  explicit Watchdog(std::chrono::duration<double> hang_after, Now now = Clock::now);

  /// Those that hang. Asks the GPUs of workers in step where they are, for at most five seconds.
  std::vector<Hang> hangs() const;

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
  friend class StepPosition;
  /// Asked by threads of its own: a dead driver may not answer.
  struct Position {
    std::mutex mutex;
    std::function<std::optional<std::uint64_t>()> passed;
  };
  struct Worker {
    std::string part{};
    std::string doing{};
    std::uint64_t round = 0;
    Clock::time_point since{};
    bool idle = true;
    std::shared_ptr<Position> position{};
  };
  static void ask(std::vector<WorkerState>& states,
                  const std::vector<std::shared_ptr<Position>>& positions);

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
  /// From now on it works on this part: "gpu0-gpu1".
  void about(std::string part);
  /// Waits for something without a time limit, such as the next phase of a load pattern.
  void idle();

 private:
  friend class StepPosition;
  Watchdog& watchdog_;
  std::list<Watchdog::Worker>::iterator worker_;
};

/// While it lives, the worker does its steps together with the others, and `passed` returns how
/// many of the points at which all wait for each other its GPU has passed in the present step;
/// nothing where that is not known. Called from another thread, never after this has ended.
class StepPosition {
 public:
  StepPosition(WatchdogScope& scope, std::function<std::optional<std::uint64_t>()> passed);
  ~StepPosition();
  StepPosition(const StepPosition&) = delete;
  StepPosition& operator=(const StepPosition&) = delete;

 private:
  WatchdogScope& scope_;
  std::shared_ptr<Watchdog::Position> position_;
};

/// The thread that checks the watchdog every second and prints the heartbeat. Ends with its scope.
class WatchdogThread {
 public:
  /// `ends` ends the program (_exit(3)); a test's returns.
  WatchdogThread(Watchdog& watchdog, Report& report, double of_seconds, std::function<void()> ends,
                 std::chrono::milliseconds every = std::chrono::seconds{1});
  ~WatchdogThread();

 private:
  void watch(std::chrono::milliseconds every);
  /// True: the program has ended.
  bool look();
  void end();

  Watchdog& watchdog_;
  Report& report_;
  const double of_seconds_;
  const std::function<void()> ends_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace cupel::burn
