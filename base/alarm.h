#pragma once
// What happens beside a coroutine's work after some time, without a coroutine of its own.
#include <memory>

#include "base/task.h"

namespace cupel {

/// Calls `act` once, `pause` from now, unless this is gone by then. What is to happen beside a
/// coroutine's work needs no coroutine of its own, which would have to be cancelled and waited for.
class Alarm {
 public:
  template <class Act>
  Alarm(const asio::any_io_executor& executor, std::chrono::milliseconds pause, Act act)
      : timer_{executor, pause} {
    timer_.async_wait([act = std::move(act),
                       here = std::weak_ptr{here_}](boost::system::error_code stopped) mutable {
      // Expired and gone in one turn of the loop: the timer no longer knows that it was stopped.
      if (!stopped && !here.expired()) act();
    });
  }

 private:
  std::shared_ptr<bool> here_ = std::make_shared<bool>();
  asio::steady_timer timer_;
};

}  // namespace cupel
