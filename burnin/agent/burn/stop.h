#pragma once
// When to stop: the time is over, SIGTERM or SIGINT came, or one of the workers could not go on.
// Signals that follow within five seconds are the same request: a job is stopped by a signal to
// each of its processes, and the parent among them sends its child another one. A later signal ends
// the program at once.
#include <atomic>
#include <chrono>

namespace cupel::burn {

class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Stop(Clock::duration time);
  ~Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  /// From now on SIGTERM and SIGINT ask this one. At most one at a time. `same_request`: for how
  /// long after the first signal further ones are ignored.
  void listen(Clock::duration same_request = std::chrono::seconds{5});

  bool by_signal() const;
  /// Lets all workers end: one of them failed.
  void give_up();
  bool given_up() const { return given_up_; }
  /// Any of the three.
  bool over() const;
  /// Until `moment`, or until it is over. False: over.
  bool wait_until(Clock::time_point moment);
  Clock::time_point deadline() const { return deadline_; }
  Clock::time_point begun() const { return begun_; }

 private:
  Clock::time_point begun_;
  Clock::time_point deadline_;
  std::atomic<bool> given_up_{false};
  int event_;  // an eventfd, so that a signal's handler may write to it; never read: stays lit
};

}  // namespace cupel::burn
