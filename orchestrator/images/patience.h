#pragma once
// Closes a socket over which nothing has moved for too long.
#include <boost/asio/ip/tcp.hpp>

#include "base/task.h"

namespace cupel::images {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(asio::ip::tcp::socket& socket)
      : socket_{socket}, timer_{socket.get_executor()} {}

  void allow(Clock::duration patience) { until_ = Clock::now() + patience; }
  void end() {
    ended_ = true;
    timer_.cancel();
  }
  Task<void> watch() {
    while (!ended_ && Clock::now() < until_) {
      timer_.expires_at(until_);
      co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    boost::system::error_code ignored;
    (void)socket_.close(ignored);
  }

 private:
  asio::ip::tcp::socket& socket_;
  asio::steady_timer timer_;
  Clock::time_point until_{};
  bool ended_ = false;
};

}  // namespace cupel::images
