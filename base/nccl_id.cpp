#include "base/nccl_id.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/text.h"

namespace cupel {
namespace {

constexpr std::size_t kMagic = 8;  // bytes before the address

Error malformed(std::string why) {
  return {Code::kMalformed, "the NCCL id is none: " + std::move(why)};
}

int nibble(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const auto byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool is_zero(std::span<const unsigned char> bytes) {
  return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; });
}

Result<std::string> ipv4(std::span<const unsigned char> bytes) {
  constexpr unsigned char kMulticast = 224;
  if (is_zero(bytes)) return malformed("its address is 0.0.0.0");
  if (bytes[0] == 0 || bytes[0] >= kMulticast)
    return malformed("its address is no host's: it begins with " + std::to_string(bytes[0]));
  std::array<char, INET_ADDRSTRLEN> text{};
  return std::string{::inet_ntop(AF_INET, bytes.data(), text.data(), text.size())};
}

Result<std::string> ipv6(std::span<const unsigned char> bytes) {
  constexpr unsigned char kMulticast = 0xff;
  constexpr std::size_t kBeforeMapped = 10;
  if (is_zero(bytes)) return malformed("its address is ::");
  if (bytes[0] == kMulticast) return malformed("its address is a multicast address");
  if (is_zero(bytes.first(kBeforeMapped)) && bytes[10] == 0xff && bytes[11] == 0xff)
    return malformed("its address is an IPv4 address written as IPv6");
  std::array<char, INET6_ADDRSTRLEN> text{};
  return std::string{::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size())};
}

}  // namespace

Result<NcclId> decode_nccl_id(std::span<const unsigned char> bytes) {
  if (bytes.size() != kNcclIdBytes)
    return malformed(std::to_string(bytes.size()) + " bytes, not " + std::to_string(kNcclIdBytes));
  if (is_zero(bytes.first(kMagic))) return malformed("its first 8 bytes are 0");
  const auto address = bytes.subspan(kMagic);
  std::uint16_t family = 0;  // in the host's order; the port is in the network's
  std::memcpy(&family, address.data(), sizeof family);
  NcclId id{.hex = hex_of(bytes)};
  id.port = static_cast<std::uint16_t>(address[2] << 8 | address[3]);
  if (family == AF_INET) {
    TRY(id.address, ipv4(address.subspan(4, 4)));
  } else if (family == AF_INET6) {
    TRY(id.address, ipv6(address.subspan(8, 16)));
  } else {
    return malformed("address family " + std::to_string(family) + ", neither IPv4 nor IPv6");
  }
  if (id.port == 0) return malformed("its port is 0");
  return id;
}

Result<std::string> bytes_of_nccl_id(std::string_view hex) {
  const auto digits = trimmed(hex);
  if (digits.size() != 2 * kNcclIdBytes)
    return malformed(std::to_string(digits.size()) + " characters, not " +
                     std::to_string(2 * kNcclIdBytes) + " hexadecimal digits");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = nibble(digits[i]), low = nibble(digits[i + 1]);
    if (high < 0 || low < 0)
      return malformed("character " + std::to_string(i + 1) + " or the next is no digit");
    bytes += static_cast<char>(high << 4 | low);
  }
  TRY(decode_nccl_id(
      std::span{reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}));
  return bytes;
}

Result<NcclId> decode_nccl_id(std::string_view hex) {
  TRY(const auto bytes, bytes_of_nccl_id(hex));
  return decode_nccl_id(
      std::span{reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

}  // namespace cupel
