#pragma once
// `--key` of what signs.
#include <string>

#include "base/signature.h"

namespace cupel::cli {

inline constexpr std::string_view kSigningKeyHelp =
    "private key of Ed25519, PEM, mode 0600; or agent:FILE: the SSH agent's key with this public "
    "half; or pkcs11:...: a key of a token";

/// Waits for the command of a PIN, 30 s at most. Errors: kInvalid: no such key, others may read it,
/// or it is of another algorithm; as SigningKey::of_token.
Result<SigningKey> signing_key(const std::string& word);

}  // namespace cupel::cli
