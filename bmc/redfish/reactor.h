#pragma once
// Sockets that somebody else owns, and one timer, on Asio: what a library with an event loop of
// its own needs to be driven from ours. Knows nothing of curl or HTTP.
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/task.h"

namespace cupel::bmc::redfish {

class Reactor : public std::enable_shared_from_this<Reactor> {
 public:
  static constexpr int kRead = 1, kWrite = 2;

  /// `on_ready(fd, kRead or kWrite)` and `on_time()` come from the loop, never from within a call
  /// of this class, and not after stop().
  Reactor(asio::any_io_executor executor, std::function<void(int, int)> on_ready,
          std::function<void()> on_time);

  /// Says what to wait for on this socket from now on; 0: nothing, for a while. A socket that is
  /// closed must be forgotten first, or its number would stand for another one later.
  bool watch(int fd, int interest);
  void forget(int fd);

  /// on_time() comes once, this much later; nothing: not at all.
  void set_timer(std::optional<std::chrono::milliseconds> patience);

  void stop();

 private:
  using Time = Deadline::Clock::time_point;
  struct Socket {
    explicit Socket(const asio::any_io_executor& executor) : descriptor{executor} {}
    asio::posix::stream_descriptor descriptor;  // borrowed: never closed by us
    int interest = 0;
    int waiting = 0;  // for which of these Asio has been asked
    bool gone = false;
  };

  void wait(int fd, const std::shared_ptr<Socket>& socket);
  void wait_for(int fd, const std::shared_ptr<Socket>& socket, int event);
  static void let_go(Socket& socket);
  void call_soon();
  void arm(Time when);

  asio::any_io_executor executor_;
  std::function<void(int, int)> on_ready_;
  std::function<void()> on_time_;
  std::unordered_map<int, std::shared_ptr<Socket>> sockets_;
  asio::steady_timer timer_;
  std::optional<Time> due_{};    // as expected
  std::optional<Time> armed_{};  // as Asio has it
  bool soon_ = false;
};

}  // namespace cupel::bmc::redfish
