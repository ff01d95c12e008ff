#include "bmc/ipmi/rmcp.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kVersion = 0x06;  // RMCP 1.0, as ASF 2.0 has it
constexpr std::uint8_t kNoAck = 0xff;    // sequence number: no RMCP acknowledge requested
constexpr std::uint8_t kClassAsf = 0x06;
constexpr std::uint8_t kClassIpmi = 0x07;
constexpr std::uint8_t kFormatPlus = 0x06;  // authentication type of RMCP+
constexpr std::uint32_t kAsfEnterprise = 4542;
constexpr std::size_t kBeforeSigned = 4;  // the RMCP header itself is not signed

Error malformed(const char* what) { return Error{Code::kMalformed, what}; }

/// The class of message behind a sound RMCP header.
Result<std::uint8_t> class_of(Reader& reader) {
  const auto version = reader.u8();
  reader.u8();
  reader.u8();
  const auto message_class = reader.u8();
  if (!reader.ok()) return malformed("a datagram without an RMCP header");
  if (version != kVersion) return malformed("not RMCP 1.0");
  if ((message_class & 0x80) != 0) return malformed("an RMCP acknowledge");
  return static_cast<std::uint8_t>(message_class & 0x1f);
}

}  // namespace

Result<Packet> parse_packet(View datagram) {
  if (datagram.size() > kLargestDatagram) return malformed("a datagram over the limit");
  Reader reader{datagram};
  TRY(const auto message_class, class_of(reader));
  if (message_class != kClassIpmi) return malformed("not IPMI");
  if (reader.u8() != kFormatPlus) return malformed("not RMCP+");
  const auto type = reader.u8();
  Packet packet{.type = static_cast<PayloadType>(type & 0x3f),
                .encrypted = (type & 0x80) != 0,
                .authenticated = (type & 0x40) != 0};
  packet.session = reader.u32();
  packet.sequence = reader.u32();
  const std::size_t length = reader.u16();
  packet.payload = reader.take(length);
  if (!reader.ok()) return malformed("a datagram shorter than it says");
  packet.trailer = reader.rest();
  packet.signed_part = datagram.subspan(kBeforeSigned);
  return packet;
}

Bytes packet_header(PayloadType type, bool secured, std::uint32_t session, std::uint32_t sequence,
                    std::size_t payload_size) {
  Bytes bytes;
  bytes.reserve(payload_size + 64);
  const auto flags = secured ? 0xc0 : 0x00;
  for (const int each :
       {+kVersion, 0, +kNoAck, +kClassIpmi, +kFormatPlus, flags | static_cast<int>(type)})
    bytes.push_back(static_cast<std::uint8_t>(each));
  put32(bytes, session);
  put32(bytes, sequence);
  put16(bytes, static_cast<std::uint32_t>(payload_size));
  return bytes;
}

Bytes without_session(PayloadType type, View payload) {
  auto bytes = packet_header(type, false, 0, 0, payload.size());
  put(bytes, payload);
  return bytes;
}

Bytes plain_message(View message) {
  Bytes bytes{kVersion, 0, kNoAck, kClassIpmi, 0x00};
  put32(bytes, 0);
  put32(bytes, 0);
  bytes.push_back(static_cast<std::uint8_t>(message.size()));
  put(bytes, message);
  return bytes;
}

Result<View> parse_plain_message(View datagram) {
  Reader reader{datagram};
  TRY(const auto message_class, class_of(reader));
  if (message_class != kClassIpmi) return malformed("not IPMI");
  if (reader.u8() != 0) return malformed("not without authentication");
  reader.u32();
  if (reader.u32() != 0) return malformed("part of a session");
  const auto message = reader.take(reader.u8());
  if (!reader.ok()) return malformed("a datagram shorter than it says");
  return message;
}

Bytes presence_ping(std::uint8_t tag) {
  // Enterprise number and message type are the only big-endian fields in here.
  return {kVersion, 0, kNoAck, kClassAsf, 0x00, 0x00, 0x11, 0xbe, 0x80, tag, 0x00, 0x00};
}

Result<Pong> parse_pong(View datagram) {
  Reader reader{datagram};
  TRY(const auto message_class, class_of(reader));
  if (message_class != kClassAsf) return malformed("not ASF");
  const auto big_endian = [&] {
    std::uint32_t value = 0;
    for (const auto each : reader.take(4)) value = value << 8 | each;
    return value;
  };
  if (big_endian() != kAsfEnterprise) return malformed("not ASF's own message");
  if (reader.u8() != 0x40) return malformed("not a presence pong");
  Pong pong{.tag = reader.u8()};
  reader.u8();
  reader.u8();
  pong.enterprise = big_endian();
  big_endian();  // defined by the enterprise
  pong.ipmi = (reader.u8() & 0x80) != 0;
  if (!reader.ok()) return malformed("a presence pong cut short");
  return pong;
}

}  // namespace cupel::bmc::ipmi
