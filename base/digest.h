#pragma once
// Digests and random bytes, by OpenSSL.
#include <memory>
#include <string>
#include <string_view>

namespace cupel {

/// SHA-256 (FIPS 180-4). The digest in lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

/// The same of what comes piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// Of all that was added. Once, at the end.
  std::string hex();

 private:
  struct Freed {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Freed> context_;
};

/// So many bytes that nobody can guess, in hexadecimal. Aborts where there are none.
std::string random_hex(std::size_t bytes);

/// What tells a secret from another one and cannot lead back to it: 24 bits, as six hexadecimal
/// digits, of PBKDF2-HMAC-SHA-256 over `salt`. One guess in 16 million fits by chance, so whoever
/// finds a password that fits has found one of very many. Takes a few milliseconds.
/// Source: RFC 8018, 5.2.
std::string secret_mark(std::string_view secret, std::string_view salt);

}  // namespace cupel
