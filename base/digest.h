#pragma once
// SHA-256 (FIPS 180-4), by OpenSSL.
#include <string>
#include <string_view>

namespace cupel {

/// The digest in lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

}  // namespace cupel
