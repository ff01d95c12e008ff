#pragma once
// The envelopes: RMCP with ASF presence ping and pong, IPMI 1.5 without a session, and RMCP+.
// Pure: bytes in, bytes out. Keys and sequence numbers are session.h's.
#include <optional>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

/// IPMI 2.0, 13.27.3.
enum class PayloadType : std::uint8_t {
  ipmi = 0x00,
  sol = 0x01,
  open_session_request = 0x10,
  open_session_response = 0x11,
  rakp1 = 0x12,
  rakp2 = 0x13,
  rakp3 = 0x14,
  rakp4 = 0x15,
};

/// No larger datagram is looked at.
inline constexpr std::size_t kLargestDatagram = 2048;

/// An RMCP+ datagram taken apart and not yet verified.
struct Packet {
  PayloadType type{};
  bool encrypted = false;
  bool authenticated = false;
  std::uint32_t session = 0;  // 0: outside of any
  std::uint32_t sequence = 0;
  View payload{};
  View signed_part{};  // what an authentication code covers
  View trailer{};      // what follows the payload: pad, pad length, next header, code
};

/// Errors: kMalformed. Source: IPMI 2.0, table 13-8.
Result<Packet> parse_packet(View datagram);

/// A payload outside of any session: what sets one up.
Bytes without_session(PayloadType type, View payload);

/// The header of an RMCP+ datagram, up to and with the payload's length.
Bytes packet_header(PayloadType type, bool secured, std::uint32_t session, std::uint32_t sequence,
                    std::size_t payload_size);

/// An IPMI message in the 1.5 envelope, without session or authentication. Source: 13.6.
Bytes plain_message(View message);
/// The message in such a datagram. Errors: kMalformed, also where it belongs to a session.
Result<View> parse_plain_message(View datagram);

/// Source: ASF 2.0 (DSP0136), 3.2.4.3; IPMI 2.0, 13.2.3.
Bytes presence_ping(std::uint8_t tag);

struct Pong {
  std::uint8_t tag = 0;
  std::uint32_t enterprise = 0;  // IANA number: 4542 is ASF itself
  bool ipmi = false;
};
/// Errors: kMalformed.
Result<Pong> parse_pong(View datagram);

}  // namespace cupel::bmc::ipmi
