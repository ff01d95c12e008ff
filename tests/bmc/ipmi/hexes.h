#pragma once
// Hexadecimal in tests.
#include <string_view>

#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

/// Blanks are passed over.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  int high = -1;
  for (const char each : text) {
    if (each == ' ' || each == '\n') continue;
    const int digit = each <= '9' ? each - '0' : (each | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes;
}

/// A copy with one byte changed; counted from the end where negative.
inline Bytes with_byte(Bytes bytes, int at, int value) {
  bytes[at >= 0 ? static_cast<std::size_t>(at) : bytes.size() - static_cast<std::size_t>(-at)] =
      static_cast<std::uint8_t>(value);
  return bytes;
}

}  // namespace cupel::bmc::ipmi
