#include "rehearsal/ipmi/packet.h"

#include <algorithm>
#include <array>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kRmcpVersion = 0x06;
constexpr std::uint8_t kNoAck = 0xFF;
constexpr std::uint8_t kClassAsf = 0x06, kClassIpmi = 0x07;
constexpr std::uint8_t kNoAuthentication = 0x00, kRmcpPlus = 0x06;
constexpr std::uint32_t kAsfEnterprise = 4542;
constexpr std::size_t kRmcpHeader = 4;

std::optional<Packet> parse_old(Reader reader) {
  Packet packet{.rmcp_plus = false};
  packet.sequence = reader.u32();
  packet.session = reader.u32();
  packet.payload = reader.take(reader.u8());
  if (!reader.good()) return std::nullopt;
  return packet;
}

}  // namespace

std::optional<Packet> parse_packet(View datagram) {
  if (datagram.size() > kMostDatagram) return std::nullopt;
  Reader reader{datagram};
  const auto version = reader.u8();
  reader.u8();
  reader.u8();
  const auto kind = reader.u8();
  if (version != kRmcpVersion || kind != kClassIpmi) return std::nullopt;
  const auto format = reader.u8();
  if (!reader.good()) return std::nullopt;
  if (format == kNoAuthentication) return parse_old(reader);
  if (format != kRmcpPlus) return std::nullopt;
  Packet packet;
  const auto type = reader.u8();
  packet.encrypted = (type & 0x80) != 0;
  packet.authenticated = (type & 0x40) != 0;
  packet.type = static_cast<Payload>(type & 0x3F);
  packet.session = reader.u32();
  packet.sequence = reader.u32();
  packet.payload = reader.take(reader.u16());
  if (!reader.good()) return std::nullopt;
  packet.covered = datagram.subspan(kRmcpHeader, datagram.size() - kRmcpHeader - reader.left());
  packet.trailer = reader.rest();
  return packet;
}

Bytes header_of(const Packet& packet, std::size_t size) {
  Bytes bytes{kRmcpVersion, 0, kNoAck, kClassIpmi};
  if (!packet.rmcp_plus) {
    put8(bytes, kNoAuthentication);
    put32(bytes, packet.sequence);
    put32(bytes, packet.session);
    put8(bytes, static_cast<unsigned>(size));
    return bytes;
  }
  put8(bytes, kRmcpPlus);
  put8(bytes, static_cast<unsigned>(packet.type) | (packet.encrypted ? 0x80u : 0u) |
                  (packet.authenticated ? 0x40u : 0u));
  put32(bytes, packet.session);
  put32(bytes, packet.sequence);
  put16(bytes, static_cast<unsigned>(size));
  return bytes;
}

Bytes plain_packet(const Packet& packet, View payload) {
  auto bytes = header_of(packet, payload.size());
  put(bytes, payload);
  return bytes;
}

std::optional<Bytes> pong_for(View datagram) {
  constexpr std::array<std::uint8_t, 4> kEnterprise{0, 0, kAsfEnterprise >> 8,
                                                    kAsfEnterprise & 0xFF};
  constexpr std::uint8_t kPing = 0x80, kPong = 0x40;
  constexpr std::uint8_t kIpmiAndAsf1 = 0x81;
  const bool ping = datagram.size() >= 12 && datagram[0] == kRmcpVersion &&
                    datagram[3] == kClassAsf &&
                    std::ranges::equal(datagram.subspan(4, 4), kEnterprise) && datagram[8] == kPing;
  if (!ping) return std::nullopt;
  Bytes bytes{kRmcpVersion, 0, kNoAck, kClassAsf};
  put(bytes, kEnterprise);
  put(bytes, Bytes{kPong, datagram[9], 0, 16});
  put(bytes, kEnterprise);
  put32(bytes, 0);
  put(bytes, Bytes{kIpmiAndAsf1, 0, 0, 0, 0, 0, 0, 0});
  return bytes;
}

std::optional<Message> parse_message(View payload) {
  constexpr std::size_t kShortest = 7;
  if (payload.size() < kShortest) return std::nullopt;
  const bool right = checksum(payload.first(3)) == 0 && checksum(payload.subspan(3)) == 0;
  if (!right) return std::nullopt;
  return Message{.responder = payload[0],
                 .net_function = static_cast<std::uint8_t>(payload[1] >> 2),
                 .responder_lun = static_cast<std::uint8_t>(payload[1] & 3),
                 .requester = payload[3],
                 .sequence = static_cast<std::uint8_t>(payload[4] >> 2),
                 .requester_lun = static_cast<std::uint8_t>(payload[4] & 3),
                 .command = payload[5],
                 .data = payload.subspan(6, payload.size() - kShortest)};
}

Bytes answer_to(const Message& request, std::uint8_t completion, View data) {
  Bytes bytes;
  put8(bytes, request.requester);
  put8(bytes, (request.net_function + 1u) << 2 | request.requester_lun);
  put8(bytes, checksum(bytes));
  put8(bytes, request.responder);
  put8(bytes, unsigned{request.sequence} << 2 | request.responder_lun);
  put8(bytes, request.command);
  put8(bytes, completion);
  put(bytes, data);
  put8(bytes, checksum(View{bytes}.subspan(3)));
  return bytes;
}

}  // namespace cupel::rehearsal::ipmi
