#pragma once
// The algorithms of cipher suites 3 and 17, by OpenSSL. Source: IPMI 2.0, 13.28 and 13.29.
#include <optional>

#include "rehearsal/ipmi/bytes.h"

namespace cupel::rehearsal::ipmi {

enum class Hash { sha1, sha256 };

Bytes hmac(Hash hash, View key, View text);
/// AES-CBC-128 of whole blocks, nothing padded. `key` and `iv`: 16 bytes each.
Bytes aes_encrypt(View key, View iv, View blocks);
/// Nothing where `blocks` are not whole.
std::optional<Bytes> aes_decrypt(View key, View iv, View blocks);
Bytes random_bytes(std::size_t count);
/// In a time that tells nothing.
bool same(View one, View other);

}  // namespace cupel::rehearsal::ipmi
