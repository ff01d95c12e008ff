#pragma once
// Serial over LAN: one payload instance of one BMC over the machine's console. One packet is out at
// a time until it is acknowledged. Source: IPMI 2.0, 15 and 24, 26.
#include <deque>
#include <functional>

#include "base/task.h"
#include "rehearsal/ipmi/session.h"
#include "rehearsal/serial_console.h"

namespace cupel::rehearsal::ipmi {

class Sol {
 public:
  static constexpr std::size_t kMostData = 200;      // characters of a packet
  static constexpr std::size_t kMostWaiting = 8192;  // characters that were not sent yet

  /// `console` must outlive it; without one (nullptr) it is off, and nothing is ever heard.
  Sol(asio::any_io_executor executor, SerialConsole* console);
  ~Sol() { stop(); }
  Sol(const Sol&) = delete;
  Sol& operator=(const Sol&) = delete;

  /// Called with a payload for the session that has activated it.
  std::function<void(std::uint32_t session, const Bytes& payload)> send = [](auto, const auto&) {};

  /// False where somebody else has it.
  bool activate(std::uint32_t session);
  /// Tells the console at the other end where `by` is another session. False where it was not.
  bool deactivate(std::uint32_t by);
  /// The session is gone: there is none to report it to.
  void forget(std::uint32_t session);
  bool active() const { return session_ != 0; }
  std::uint32_t session() const { return session_; }

  /// A packet of the remote console's.
  void take(View payload);
  void stop();

  // Configuration parameters (26.3).
  bool enabled = false;
  std::uint8_t authentication = 0xC2;  // both are forced; user and above
  std::uint8_t accumulate = 12, threshold = 96;
  std::uint8_t retries = 7, retry_interval = 50;  // of 10 ms
  std::uint8_t bit_rate = 0x0A;                   // 115.2 kbps

 private:
  void wrote(std::string_view text);
  void transmit_next();
  void transmit();
  void arm();
  void take_acknowledgement(std::uint8_t number, std::size_t accepted, bool refused);

  SerialConsole* console_;
  asio::steady_timer timer_;
  std::uint32_t session_ = 0;
  std::string waiting_{};
  std::string flying_{};
  std::uint8_t number_ = 0;      // of the packet that is out, or was last
  std::uint8_t last_taken_ = 0;  // of the remote console's
  std::uint8_t last_count_ = 0;  // and how much of it was accepted
  std::uint8_t overrun_ = 0;     // a bit of the next status
  int tries_ = 0;
};

}  // namespace cupel::rehearsal::ipmi
