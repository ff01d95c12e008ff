#pragma once
// A signed text that other tools can carry and check: a DSSE envelope (Dead Simple Signing Envelope
// 1.0.2, github.com/secure-systems-lab/dsse) with an Ed25519 signature.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/signature.h"

namespace cupel::certificate {

inline constexpr std::string_view kPayloadType = "application/vnd.in-toto+json";
inline constexpr std::size_t kLargestPayload = 256UL << 20U;  // bytes

/// The envelope as JSON. Beside the signature it has digests of the payload's blocks, not signed,
/// by which a reader finds where a payload was changed. Errors: as SigningKey::sign.
Result<std::string> seal(std::string_view payload, const SigningKey& key);

struct Opened {
  std::string payload{};
  std::string key_id{};  // of the key that signed it
};

/// The payload, if one of `public_keys` (PEM) has signed it. Errors: kMalformed: it is no such
/// envelope; kUntrusted: none of these keys has signed these bytes, with the first changed place
/// where that can be found; kInvalid: a key is none.
Result<Opened> open(std::string_view envelope, std::span<const std::string> public_keys);

/// SHA-256 of the key's SubjectPublicKeyInfo (RFC 8410), in hexadecimal: `openssl pkey -pubin
/// -outform DER | sha256sum`. Errors: as public_key_pem.
Result<std::string> key_id(std::string_view public_key);

}  // namespace cupel::certificate
