#pragma once
// Which part of a file a request wants. Source: RFC 9110, 14.
#include <cstdint>
#include <optional>
#include <string_view>

namespace cupel::images {

struct ByteRange {
  std::uint64_t first = 0, size = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

enum class RangeAnswer { whole, part, unsatisfiable };

struct RequestedRange {
  RangeAnswer answer = RangeAnswer::whole;
  ByteRange bytes{};
};

/// `field`: the Range header, or empty; of a file of `size` bytes. What is not one range of bytes
/// is answered with the whole file, as a server may.
RequestedRange requested_range(std::string_view field, std::uint64_t size);

}  // namespace cupel::images
