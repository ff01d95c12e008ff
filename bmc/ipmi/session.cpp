#include "bmc/ipmi/session.h"

#include <algorithm>

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kNextHeader = 0x07;  // table 13-8: always

Error malformed(const char* what) { return Error{Code::kMalformed, what}; }

/// K1, K2, ...: 13.32. The constants have 20 bytes, whatever the hash.
Bytes additional_key(Mac& mac, std::uint8_t number) {
  const Bytes constant(20, number);
  return mac.of({constant});
}

Mac integrity_key(Hash hash, View key) {
  Mac mac{hash, key};
  auto k1 = additional_key(mac, 1);
  Mac derived{hash, k1};
  wipe(k1);
  return derived;
}

Aes confidentiality_key(Hash hash, View key) {
  Mac mac{hash, key};
  auto k2 = additional_key(mac, 2);
  Block block;
  std::copy_n(k2.begin(), block.size(), block.begin());
  wipe(k2);
  Aes cipher{block};
  return cipher;
}

}  // namespace

bool Window::accept(std::uint32_t number) {
  if (!started_) {
    started_ = true;
    highest_ = number;
    seen_ = 0;
    return true;
  }
  const std::uint32_t ahead = number - highest_;
  if (ahead == 0) return false;
  if (ahead <= kReach) {
    seen_ = ahead == 32 ? 0 : seen_ << ahead;
    seen_ |= 1u << (ahead - 1);
    highest_ = number;
    return true;
  }
  const std::uint32_t behind = highest_ - number;
  if (behind > kReach) return false;
  const auto bit = 1u << (behind - 1);
  if ((seen_ & bit) != 0) return false;
  seen_ |= bit;
  return true;
}

Session::Session(const Suite& suite, std::uint32_t ours, std::uint32_t theirs, View key)
    : ours_{ours},
      theirs_{theirs},
      code_size_{suite.code_size},
      integrity_{integrity_key(suite.hash, key)},
      cipher_{confidentiality_key(suite.hash, key)} {}

Bytes Session::seal(PayloadType type, View payload) {
  if (++sequence_ == 0) ++sequence_;  // 0 is for what is outside of a session
  // 13.29: a vector, the data, 01h 02h 03h ... and how many of those, to whole blocks.
  const std::size_t pad = (16 - (payload.size() + 1) % 16) % 16;
  const std::size_t body = payload.size() + pad + 1;
  auto bytes = packet_header(type, true, theirs_, sequence_, 16 + body);
  const auto vector = random_block();
  put(bytes, vector);
  const auto start = bytes.size();
  put(bytes, payload);
  for (std::size_t i = 1; i <= pad; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  bytes.push_back(static_cast<std::uint8_t>(pad));
  cipher_.encrypt(vector, bytes.data() + start, body);
  // What is signed is a multiple of 4 long: everything behind the RMCP header's 4 bytes.
  std::uint8_t filled = 0;
  for (; (bytes.size() + 2) % 4 != 0; ++filled) bytes.push_back(0xff);
  bytes.push_back(filled);
  bytes.push_back(kNextHeader);
  const auto code = integrity_.of({View{bytes}.subspan(4)});
  put(bytes, View{code}.first(code_size_));
  return bytes;
}

Result<Session::Opened> Session::open(View datagram) {
  TRY(const Packet packet, parse_packet(datagram));
  if (packet.session != ours_) return malformed("of another session");
  if (!packet.authenticated || !packet.encrypted)
    return malformed("in the clear, where the session is not");
  if (!is_authentic(packet)) return malformed("a wrong authentication code");
  if (!window_.accept(packet.sequence)) return malformed("a sequence number that was there before");
  TRY(Bytes payload, decrypted(packet.payload));
  return Opened{packet.type, std::move(payload)};
}

bool Session::is_authentic(const Packet& packet) {
  // The code is what is left behind pad, pad length and next header.
  if (packet.trailer.size() < code_size_ + 2) return false;
  const auto given = packet.trailer.last(code_size_);
  const auto covered = packet.signed_part.first(packet.signed_part.size() - code_size_);
  const auto code = integrity_.of({covered});
  return same_secret(View{code}.first(code_size_), given);
}

Result<Bytes> Session::decrypted(View payload) {
  if (payload.size() < 32 || payload.size() % 16 != 0)
    return malformed("an encrypted payload that is no whole number of blocks");
  Block vector;
  std::copy_n(payload.begin(), vector.size(), vector.begin());
  Bytes plain{payload.begin() + 16, payload.end()};
  cipher_.decrypt(vector, plain.data(), plain.size());
  const std::size_t pad = plain.back();
  if (pad > 15 || pad + 1 > plain.size()) return malformed("a confidentiality pad over the limit");
  plain.resize(plain.size() - pad - 1);
  return plain;
}

}  // namespace cupel::bmc::ipmi
