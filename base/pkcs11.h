#pragma once
// Signatures by a key that a PKCS#11 token holds, and never shows: an HSM, a smart card, SoftHSM.
// Source: OASIS PKCS #11 3.0, 5 (functions) and 6.3 (EdDSA); RFC 7512 (the URI).
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

/// Where a key is:
/// "pkcs11:token=site;object=certificates?module-path=/usr/lib/x.so&pin-source=...".
struct TokenKey {
  std::string module{};      // path of its library, absolute
  std::string pin_source{};  // where the PIN is kept; empty: the token needs none, or asks itself
  std::string token{};       // label
  std::string serial{};      // of the token
  std::string object{};      // label of the key
  std::string id{};          // of the key: bytes

  friend bool operator==(const TokenKey&, const TokenKey&) = default;
};

/// Errors: kInvalid: no such URI, an attribute that is not known here or comes twice, neither label
/// nor id of a key, or a PIN in the URI, which other users would see in the list of processes.
Result<TokenKey> parse_token_key(std::string_view uri);

/// The 32 bytes of the public key of Ed25519. `pin` may be empty. Errors: kInvalid: the module does
/// not open, another user can change it, or there is no such key or more than one; kRefused: the
/// PIN is wrong, or the next wrong one would lock the token; kUnsupported: the key is not of
/// Ed25519; kFailed: what the token reports.
Result<std::string> token_public_key(const TokenKey& key, std::string_view pin);

/// The 64 bytes of the signature over `bytes`. Not checked: verify_signature. Errors: as above.
Result<std::string> sign_by_token(std::string_view bytes, const TokenKey& key,
                                  std::string_view pin);

}  // namespace cupel
