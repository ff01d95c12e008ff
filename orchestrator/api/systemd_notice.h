#pragma once
// What a service reports to systemd: that it is ready, stopping, reloading, alive. A datagram each;
// nothing where systemd did not start the process. Source: sd_notify(3), sd_watchdog_enabled(3).
#include <chrono>
#include <optional>
#include <string>

namespace cupel::api {

class SystemdNotice {
 public:
  /// Reads the environment, and takes it out of it: not for the programs that this one starts.
  SystemdNotice();

  /// "READY=1", "STOPPING=1", "WATCHDOG=1". What cannot be sent is lost.
  void send(const std::string& state) const;
  /// With the time that systemd wants to see with it. Source: sd_notify(3), RELOADING=1.
  void send_reloading() const;

  /// How often "WATCHDOG=1" is due at least; nothing: not at all.
  std::optional<std::chrono::milliseconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_{};
  std::optional<std::chrono::milliseconds> watchdog_{};
};

}  // namespace cupel::api
