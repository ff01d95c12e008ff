#pragma once
// Serial-over-LAN as both ends number and acknowledge it. A conversation without socket or clock:
// payloads in, payloads to send out. Source: IPMI 2.0, 15.9 to 15.11.
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

/// One SOL payload: table 15-2.
struct SolPacket {
  std::uint8_t sequence = 0;  // 1 to 15; 0: an acknowledgement only
  std::uint8_t acked = 0;     // number of the packet that is acknowledged; 0: none
  std::uint8_t accepted = 0;  // how many of its characters
  std::uint8_t status = 0;    // or operation, on the way to the BMC
  View text{};

  bool nack() const { return (status & 0x40) != 0; }
  bool transfer_unavailable() const { return (status & 0x20) != 0; }
  bool deactivated() const { return (status & 0x10) != 0; }
};

inline constexpr std::size_t kSolHeader = 4;

/// Errors: kMalformed.
Result<SolPacket> parse_sol(View payload);
Bytes bytes_of(const SolPacket& packet);

class SolStream {
 public:
  /// `largest`: characters that the BMC takes in one packet.
  explicit SolStream(std::size_t largest) : largest_{largest} {}

  /// Takes what the BMC sent. Returns what to send back at once; empty: nothing.
  Bytes hear(View payload);

  /// The characters that came, in their order; they are taken out.
  std::string take_text() { return std::exchange(inbox_, {}); }
  bool has_text() const { return !inbox_.empty(); }
  /// The BMC ended it: deactivated, or taken over.
  bool ended() const { return ended_; }

  /// Begins a packet with as much of `text` as goes into one. Not before delivered().
  Bytes send(std::string_view text);
  Bytes send_break();
  /// The packet on its way, as it was; empty where none is.
  const Bytes& on_its_way() const { return outgoing_; }
  /// How many of the characters of the last packet the BMC took; nothing while it has not said.
  /// Fewer than there were: the rest is to be sent anew, after a while if paused().
  std::optional<std::size_t> delivered() const { return delivered_; }
  /// The BMC cannot pass characters on for now (CTS, or the machine is off).
  bool paused() const { return paused_; }

  /// Characters that wait for a reader; more are not accepted until somebody reads.
  static constexpr std::size_t kLargestInbox = 64u << 10;

 private:
  Bytes begin(SolPacket packet);
  void on_ack(const SolPacket& packet);

  std::size_t largest_;
  std::string inbox_{};
  std::uint8_t heard_ = 0;  // number of the last packet that was accepted
  std::uint8_t heard_size_ = 0;
  std::uint8_t sequence_ = 0;
  std::size_t sent_ = 0;  // characters in the packet on its way
  Bytes outgoing_{};
  std::optional<std::size_t> delivered_{};
  bool paused_ = false;
  bool ended_ = false;
};

}  // namespace cupel::bmc::ipmi
