#pragma once
// What stands in one datagram: RMCP, the session header, an IPMI message in it. Pure, and without
// keys: those are in session.h. Source: IPMI 2.0, 13.1 to 13.8; ASF 2.0, 3.2.4.
#include <optional>

#include "rehearsal/ipmi/bytes.h"

namespace cupel::rehearsal::ipmi {

/// A longer datagram is not looked at.
inline constexpr std::size_t kMostDatagram = 1024;

enum class Payload : std::uint8_t {
  message = 0x00,
  sol = 0x01,
  open_session = 0x10,
  open_session_answer = 0x11,
  rakp_1 = 0x12,
  rakp_2 = 0x13,
  rakp_3 = 0x14,
  rakp_4 = 0x15,
};

/// 13.6, table 13-8.
struct Packet {
  bool rmcp_plus = true;  // else IPMI 1.5's header, without authentication
  Payload type = Payload::message;
  bool encrypted = false, authenticated = false;
  std::uint32_t session = 0, sequence = 0;
  View payload{};
  View covered{};  // by the integrity check, without the trailer
  View trailer{};  // pad, its length, next header and code, where it is authenticated
};

/// Points into `datagram`. Nothing: not IPMI, cut short, or of a kind that this BMC does not take.
std::optional<Packet> parse_packet(View datagram);

/// The header of an RMCP+ packet; the payload and the trailer follow. `size`: of the payload.
Bytes header_of(const Packet& packet, std::size_t size);
/// The same in a whole, for what is not protected.
Bytes plain_packet(const Packet& packet, View payload);

/// The answer to an ASF presence ping, or nothing.
std::optional<Bytes> pong_for(View datagram);

/// 13.8: an IPMI LAN message.
struct Message {
  std::uint8_t responder = 0x20, net_function = 0, responder_lun = 0;
  std::uint8_t requester = 0x81, sequence = 0, requester_lun = 0;
  std::uint8_t command = 0;
  View data{};
};

/// Nothing where it is cut short or a checksum is wrong.
std::optional<Message> parse_message(View payload);
/// The answer to `request`, as a payload.
Bytes answer_to(const Message& request, std::uint8_t completion, View data);

}  // namespace cupel::rehearsal::ipmi
