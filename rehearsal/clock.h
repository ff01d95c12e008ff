#pragma once
// Time on the rack's side: it runs `speed` times faster than life, so that an hour of burn-in can
// be rehearsed in a minute, and it waits for its loop: a machine that is too slow for the speed
// gets a slower rack, never one whose limits have passed before anybody could act. Not a scheduler:
// timers are Asio's, and rack_timer.h.
//
// Two rules, both of a loop that is late:
// - While the loop works without a rest, time passes as in life, however high the speed.
// - Time never passes a timer by more than kLate before the loop has come to it.
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>

namespace cupel::rehearsal {

/// A span of the rack's own time.
using VirtualTime = std::chrono::duration<double>;

/// Whoever tells the time does so on the rack's loop.
class Clock {
 public:
  using Real = std::chrono::steady_clock;
  static constexpr VirtualTime kLate{1};

  explicit Clock(double speed);

  double speed() const { return speed_; }

  /// How long a span of the rack's time lasts in ours, at least: longer where the loop is late.
  /// Capped at a year, which no timer outlives.
  Real::duration real(VirtualTime span) const;

  /// The rack's time since it was started.
  VirtualTime elapsed() const;

  /// The rack's wall clock, as `date +%s` on a node would say it.
  double epoch() const;

  /// How much further it would be, had the loop never been late.
  VirtualTime lost() const;

  /// The least that a nap takes whose end somebody only uses to look again, so that looking never
  /// takes all of a loop: after the first few one ends every 2 ms of our time, and none is longer
  /// than a second of it for that. Asked once for each nap.
  VirtualTime shortest_nap() const;

  /// From now on: what has passed until here is forgotten.
  void begin();

  /// The loop has something to do; it has nothing to do but to wait. A clock whose loop says
  /// neither counts all of it as waiting.
  void work() { go_on(std::min(speed_, 1.0)); }
  void rest() { go_on(speed_); }

  /// A point of time at which somebody waits to be woken; as long as it lives.
  class Due {
   public:
    Due(const Clock& clock, VirtualTime when);
    ~Due();
    Due(const Due&) = delete;
    Due& operator=(const Due&) = delete;

   private:
    struct Now;
    friend class Clock;
    std::shared_ptr<Now> now_;  // a timer may be forgotten after its clock
    std::multiset<VirtualTime>::iterator mine_;
  };

 private:
  void go_on(double rate);

  double speed_;
  Real::time_point start_ = Real::now();
  std::chrono::system_clock::time_point wall_start_ = std::chrono::system_clock::now();
  std::shared_ptr<Due::Now> now_;
};

}  // namespace cupel::rehearsal
