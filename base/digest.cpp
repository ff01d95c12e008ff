#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
#include <cstdio>
#include <cstdlib>
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

/// Without random bytes, or with a mark of zeros, whoever trusts them is deceived: nothing goes on,
/// in a build without assert() either.
void demand(int result, const char* what) {
  if (result == 1) return;
  std::fprintf(stderr, "cupel: OpenSSL failed: %s\n", what);
  std::abort();
}

/// Found once: OpenSSL 3 looks the method up by its name in each SHA256() and for EVP_sha256(),
/// which takes twice as long as the hash of a journal's event. Source: man 7 crypto, "Performance".
const EVP_MD* sha256() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  demand(method == nullptr ? 0 : 1, "no SHA-256");
  return method;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  demand(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha256(), nullptr),
         "no SHA-256");
  return hex_of(digest);
}

Sha256::Sha256() : context_{EVP_MD_CTX_new()} {
  auto* context = static_cast<EVP_MD_CTX*>(context_.get());
  demand(context == nullptr ? 0 : EVP_DigestInit_ex(context, sha256(), nullptr), "no SHA-256");
}

void Sha256::Freed::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

void Sha256::add(std::string_view bytes) {
  auto* context = static_cast<EVP_MD_CTX*>(context_.get());
  demand(EVP_DigestUpdate(context, bytes.data(), bytes.size()), "no SHA-256");
}

std::string Sha256::hex() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  auto* context = static_cast<EVP_MD_CTX*>(context_.get());
  demand(EVP_DigestFinal_ex(context, digest.data(), nullptr), "no SHA-256");
  return hex_of(digest);
}

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> drawn(bytes);
  demand(RAND_bytes(drawn.data(), static_cast<int>(drawn.size())), "no random bytes");
  return hex_of(drawn);
}

std::string secret_mark(std::string_view secret, std::string_view salt) {
  constexpr int kRounds = 10'000;
  std::array<unsigned char, 3> mark{};
  const int made = PKCS5_PBKDF2_HMAC(secret.data(), static_cast<int>(secret.size()),
                                     reinterpret_cast<const unsigned char*>(salt.data()),
                                     static_cast<int>(salt.size()), kRounds, EVP_sha256(),
                                     static_cast<int>(mark.size()), mark.data());
  demand(made, "no key was derived");
  return hex_of(mark);
}

}  // namespace cupel
