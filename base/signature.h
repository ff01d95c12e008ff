#pragma once
// Detached Ed25519 signatures (RFC 8032) over whole texts, by OpenSSL. Whatever is not a valid
// signature is an error: there is no third answer.
#include <functional>
#include <string>
#include <string_view>

#include "base/pkcs11.h"
#include "base/result.h"

namespace cupel {

inline constexpr std::size_t kSignatureBytes = 64;

/// Whether these 32 bytes, a public key of Ed25519, are a point of small order: anybody can make
/// signatures for it that fit every text. Source: the eight torsion points of edwards25519 and
/// their encodings that are not canonical, RFC 8032, 5.1.3; the sign bit is left out.
bool has_small_order(std::string_view encoded);

/// Errors: kUntrusted for a signature that is not of these bytes by this key, of another length, or
/// empty; kInvalid for a key that is no public key of Ed25519 (public_key_pem).
Result<void> verify_signature(std::string_view bytes, std::string_view signature,
                              std::string_view public_key);

/// The 64 bytes of the signature. Errors: kInvalid for a key that is no unencrypted PEM private key
/// of Ed25519.
Result<std::string> sign(std::string_view bytes, std::string_view private_key);

/// The PEM public key of a private one. Errors: as sign.
Result<std::string> public_key_of(std::string_view private_key);

/// The PEM public key of Ed25519 in `text`: PEM already, or as ssh-keygen(1) writes it
/// ("ssh-ed25519 AAAA... comment"). Errors: kInvalid.
Result<std::string> public_key_pem(std::string_view text);

/// Who signs: a private key, or one that an SSH agent (ssh_agent.h) or a token (pkcs11.h) holds.
class SigningKey {
 public:
  /// Errors: as sign.
  static Result<SigningKey> of_private_key(std::string_view pem);
  /// The agent's key with this public half. Errors: kInvalid: it is none of Ed25519.
  static Result<SigningKey> of_agent(std::string_view public_key);
  /// `pin` may be empty. Errors: as token_public_key.
  static Result<SigningKey> of_token(TokenKey key, std::string pin);

  /// PEM.
  const std::string& public_key() const { return public_key_; }
  /// The 64 bytes, which this public key has verified. Errors: as sign, as sign_by_agent, as
  /// sign_by_token.
  Result<std::string> sign(std::string_view bytes) const;

 private:
  using Signer = std::function<Result<std::string>(std::string_view bytes)>;
  SigningKey(Signer signer, std::string public_key)
      : signer_{std::move(signer)}, public_key_{std::move(public_key)} {}

  Signer signer_;
  std::string public_key_;
};

/// A new private key of Ed25519 as PEM, without a passphrase. Errors: kFailed.
Result<std::string> make_signing_key();

}  // namespace cupel
