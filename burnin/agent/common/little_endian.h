#pragma once
// Numbers in bytes that come from devices and firmware.
#include <cstddef>
#include <string_view>

namespace cupel::agent {

/// `many` bytes (at most 4), the lowest first; what is behind the end counts as 0.
inline unsigned little_endian(std::string_view bytes, std::size_t at, std::size_t many) {
  unsigned value = 0;
  for (std::size_t i = 0; i < many && at + i < bytes.size(); ++i)
    value |= static_cast<unsigned>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

}  // namespace cupel::agent
