#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
#include <cassert>
#include <span>
#include <vector>

namespace cupel {
namespace {

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return hex_of(digest);
}

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> drawn(bytes);
  [[maybe_unused]] const int good = RAND_bytes(drawn.data(), static_cast<int>(drawn.size()));
  assert(good == 1);
  return hex_of(drawn);
}

std::string secret_mark(std::string_view secret, std::string_view salt) {
  constexpr int kRounds = 10'000;
  std::array<unsigned char, 3> mark{};
  [[maybe_unused]] const int good = PKCS5_PBKDF2_HMAC(
      secret.data(), static_cast<int>(secret.size()),
      reinterpret_cast<const unsigned char*>(salt.data()), static_cast<int>(salt.size()), kRounds,
      EVP_sha256(), static_cast<int>(mark.size()), mark.data());
  assert(good == 1);
  return hex_of(mark);
}

}  // namespace cupel
