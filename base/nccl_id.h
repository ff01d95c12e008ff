#pragma once
// NCCL's unique id, as far as it is known: where the ranks of a communicator meet. Made on one
// node, carried by the controller, checked on both. Pure. Not a secret, but an address.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

/// The address at which the process that made the id listens.
struct NcclId {
  std::string hex{};      // all 128 bytes, lower case
  std::string address{};  // "10.0.0.1", "fd00::1"
  std::uint16_t port = 0;
  friend bool operator==(const NcclId&, const NcclId&) = default;
};

inline constexpr std::size_t kNcclIdBytes = 128;

/// Errors: kMalformed: not 128 bytes, no magic, neither AF_INET nor AF_INET6, port 0, or an address
/// that no other node can connect to (0.0.0.0, ::, multicast, a mapped IPv4 address).
/// Source: NCCL 2.14 to 2.30, src/bootstrap.cc: struct ncclBootstrapHandle { uint64_t magic; union
/// ncclSocketAddress addr; ...}, zero-padded; sockaddr_in and sockaddr_in6 as Linux has them.
Result<NcclId> decode_nccl_id(std::span<const unsigned char> bytes);

/// The same from 256 hexadecimal digits, blanks around them left out.
Result<NcclId> decode_nccl_id(std::string_view hex);

/// The bytes of a text that decode_nccl_id() takes. Errors: as there.
Result<std::string> bytes_of_nccl_id(std::string_view hex);

}  // namespace cupel
