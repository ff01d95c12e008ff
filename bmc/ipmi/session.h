#pragma once
// An RMCP+ session once it is set up: what seals and opens its packets. Pure but for the random
// vectors of its encryption. How one is set up is handshake.h.
#include <optional>

#include "bmc/ipmi/crypto.h"
#include "bmc/ipmi/rmcp.h"

namespace cupel::bmc::ipmi {

/// A cipher suite: three algorithms by their numbers. Source: IPMI 2.0, table 22-20.
struct Suite {
  int number;
  std::uint8_t authentication;   // RAKP-HMAC-SHA1 or -SHA256
  std::uint8_t integrity;        // HMAC-SHA1-96 or HMAC-SHA256-128
  std::uint8_t confidentiality;  // AES-CBC-128
  Hash hash;
  std::size_t code_size;  // of an authentication code, and of RAKP 4's check value
};

inline constexpr Suite kSuite3{3, 1, 1, 1, Hash::sha1, 12};
inline constexpr Suite kSuite17{17, 3, 4, 1, Hash::sha256, 16};

/// Which sequence numbers of the other side are new: none twice, none far from the highest.
/// Source: IPMI 2.0, 6.12.13, which asks for at least 16 in both directions.
class Window {
 public:
  /// True once for each number.
  bool accept(std::uint32_t number);

  static constexpr std::uint32_t kReach = 32;

 private:
  bool started_ = false;
  std::uint32_t highest_ = 0;
  std::uint32_t seen_ = 0;  // bit i: highest_ - 1 - i
};

class Session {
 public:
  /// `key` is the session integrity key of the handshake. Source: IPMI 2.0, 13.32.
  Session(const Suite& suite, std::uint32_t ours, std::uint32_t theirs, View key);

  /// The datagram that carries this payload, encrypted and authenticated. Each has a sequence
  /// number of its own, a repeated one too.
  Bytes seal(PayloadType type, View payload);

  struct Opened {
    PayloadType type{};
    Bytes payload{};
  };
  /// What a datagram of this session carries. Errors: kMalformed for whatever is not the BMC's own
  /// or was there before.
  Result<Opened> open(View datagram);

  std::uint32_t ours() const { return ours_; }
  std::uint32_t theirs() const { return theirs_; }

 private:
  bool is_authentic(const Packet& packet);
  Result<Bytes> decrypted(View payload);

  std::uint32_t ours_;    // the id that the BMC's datagrams carry
  std::uint32_t theirs_;  // the id that ours carry
  std::uint32_t sequence_ = 0;
  std::size_t code_size_;
  Window window_{};
  Mac integrity_;
  Aes cipher_;
};

}  // namespace cupel::bmc::ipmi
