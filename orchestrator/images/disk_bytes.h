#pragma once
// Bytes and numbers of a disk image that is not mounted. Any bytes may stand there.
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace cupel::images {

/// `count` bytes from `offset` on; fewer where the file ends.
inline std::string bytes_at(std::ifstream& file, std::uint64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Of `size` bytes (8 at most) that are there, the lowest first.
inline std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;)
    number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

}  // namespace cupel::images
