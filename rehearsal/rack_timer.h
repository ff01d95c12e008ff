#pragma once
// A timer of the rack's time: it does something once, when that time has come, however the clock
// slows down meanwhile. For coroutines: Process::block_until.
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "base/task.h"
#include "rehearsal/clock.h"

namespace cupel::rehearsal {

class RackTimer {
 public:
  /// `clock` must outlive it.
  RackTimer(asio::any_io_executor executor, const Clock& clock);
  ~RackTimer() { cancel(); }
  RackTimer(const RackTimer&) = delete;
  RackTimer& operator=(const RackTimer&) = delete;

  /// Calls `then` on the loop after that span, unless it is started again or cancelled before.
  void start(VirtualTime span, std::function<void()> then);
  void cancel();
  bool waits() const { return wait_ != nullptr; }

 private:
  struct Wait;
  void wait();

  const Clock& clock_;
  asio::steady_timer timer_;
  std::shared_ptr<Wait> wait_{};  // nullptr: nobody waits
};

}  // namespace cupel::rehearsal
