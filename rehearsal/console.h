#pragma once
// The serial console of a simulated machine: what its firmware, boot loader and kernel write while
// it boots, and a login that nobody passes. Driven by the machine's events. Not the protocol that
// carries it: ipmi/sol.h.
#include <string>
#include <string_view>

#include "rehearsal/managed_system.h"
#include "rehearsal/rack_timer.h"
#include "rehearsal/serial_console.h"

namespace cupel::rehearsal {

class Machine;

class Console : public SerialConsole {
 public:
  /// `machine` must outlive it.
  explicit Console(const Machine& machine);

  void hear(ManagedSystem::Event event);
  /// From the keyboard at the other end. Nobody listens before the operating system is up.
  void type(std::string_view keys) override;
  void send_break() override;
  void stop() { timer_.cancel(); }

 private:
  void continue_post(std::size_t stage);
  void prompt();
  void press(char key);
  std::string stamp() const;

  const Machine& machine_;
  RackTimer timer_;
  std::string line_{};
  bool asks_password_ = false;
  VirtualTime kernel_began_{0};
};

}  // namespace cupel::rehearsal
