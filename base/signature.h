#pragma once
// Detached Ed25519 signatures (RFC 8032) over whole texts, by OpenSSL. Whatever is not a valid
// signature is an error: there is no third answer.
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

inline constexpr std::size_t kSignatureBytes = 64;

/// Errors: kUntrusted for a signature that is not of these bytes by this key, of another length, or
/// empty; kInvalid for a key that is no PEM public key of Ed25519.
Result<void> verify_signature(std::string_view bytes, std::string_view signature,
                              std::string_view public_key);

/// The 64 bytes of the signature. Errors: kInvalid for a key that is no unencrypted PEM private key
/// of Ed25519.
Result<std::string> sign(std::string_view bytes, std::string_view private_key);

/// The PEM public key of a private one. Errors: as sign.
Result<std::string> public_key_of(std::string_view private_key);

/// A new private key of Ed25519 as PEM, without a passphrase. Errors: kFailed.
Result<std::string> make_signing_key();

}  // namespace cupel
