#pragma once
// The text of a UUID.
#include <string_view>

namespace cupel {

/// 8-4-4-4-12 hexadecimal digits, in lower case. Source: RFC 9562, 4.
constexpr bool is_uuid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  if (text.size() != kLength) return false;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = std::string_view{"0123456789abcdef"}.contains(text[i]);
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

}  // namespace cupel
