#pragma once
// Base64 with the usual alphabet. Source: RFC 4648, 4.
#include <optional>
#include <string>
#include <string_view>

namespace cupel {

/// With its padding.
std::string base64(std::string_view bytes);

/// Nothing where a character is none of the alphabet. The padding may be left out (RFC 4648, 3.2).
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cupel
