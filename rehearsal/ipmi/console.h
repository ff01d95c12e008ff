#pragma once
// The serial console of one virtual machine: what its firmware, boot loader and kernel write while
// it boots, and a login that nobody passes. Driven by the machine's events. Not the protocol that
// carries it: sol.h.
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "rehearsal/machine.h"

namespace cupel::rehearsal {

class Console {
 public:
  /// `machine` must outlive it.
  Console(asio::any_io_executor executor, Machine& machine) : machine_{machine}, timer_{executor} {}

  /// Called with what the machine writes.
  std::function<void(std::string_view)> wrote = [](std::string_view) {};

  void hear(Machine::Event event);
  /// From the keyboard at the other end. Nobody listens before the operating system is up.
  void type(std::string_view keys);
  void send_break();
  void stop() { timer_.cancel(); }

 private:
  void continue_post(std::size_t stage);
  void prompt();
  void press(char key);

  Machine& machine_;
  asio::steady_timer timer_;
  std::string line_{};
  bool asks_password_ = false;
};

}  // namespace cupel::rehearsal
