#include "bmc/ipmi/sol.h"

#include <algorithm>

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kNack = 0x40, kBreak = 0x10;
constexpr std::size_t kMostText = 255;  // that an acknowledgement can count

}  // namespace

Result<SolPacket> parse_sol(View payload) {
  Reader reader{payload};
  SolPacket packet;
  packet.sequence = reader.u8() & 0x0f;
  packet.acked = reader.u8() & 0x0f;
  packet.accepted = reader.u8();
  packet.status = reader.u8();
  packet.text = reader.rest();
  if (!reader.ok()) return Error{Code::kMalformed, "a SOL packet cut short"};
  if (packet.text.size() > kMostText) return Error{Code::kMalformed, "a SOL packet over 255"};
  return packet;
}

Bytes bytes_of(const SolPacket& packet) {
  Bytes bytes{packet.sequence, packet.acked, packet.accepted, packet.status};
  put(bytes, packet.text);
  return bytes;
}

Bytes SolStream::hear(View payload) {
  const auto parsed = parse_sol(payload);
  if (!parsed) return {};
  const SolPacket& packet = *parsed;
  if (packet.deactivated()) ended_ = true;
  on_ack(packet);
  if (packet.sequence == 0) return {};
  const auto size = static_cast<std::uint8_t>(packet.text.size());
  SolPacket answer{.acked = packet.sequence, .accepted = size};
  // The acknowledgement was lost, and the packet came again (15.11).
  if (packet.sequence == heard_) {
    answer.accepted = heard_size_;
    return bytes_of(answer);
  }
  if (inbox_.size() + size > kLargestInbox) {
    answer.accepted = 0;
    answer.status = kNack;
    return bytes_of(answer);
  }
  heard_ = packet.sequence;
  heard_size_ = size;
  inbox_.append(reinterpret_cast<const char*>(packet.text.data()), size);
  return bytes_of(answer);
}

void SolStream::on_ack(const SolPacket& packet) {
  if (packet.acked == 0 || packet.acked != sequence_ || outgoing_.empty()) return;
  delivered_ = std::min<std::size_t>(packet.accepted, sent_);
  paused_ = packet.transfer_unavailable() || (packet.nack() && *delivered_ < sent_);
  outgoing_.clear();
}

Bytes SolStream::begin(SolPacket packet) {
  sequence_ = sequence_ % 15 + 1;
  packet.sequence = sequence_;
  sent_ = packet.text.size();
  delivered_.reset();
  paused_ = false;
  outgoing_ = bytes_of(packet);
  return outgoing_;
}

Bytes SolStream::send(std::string_view text) {
  return begin({.text = bytes_of(text.substr(0, std::min({text.size(), largest_, kMostText})))});
}

Bytes SolStream::send_break() { return begin({.status = kBreak}); }

}  // namespace cupel::bmc::ipmi
