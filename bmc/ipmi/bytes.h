#pragma once
// Bytes from outside, read within their bounds, and bytes to send. Little-endian, as IPMI has them.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::bmc::ipmi {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

/// Reads on past the end as zeros, and remembers that it did: ask ok() before using any of it.
class Reader {
 public:
  explicit Reader(View bytes) : rest_{bytes} {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u24() { return number(3); }
  std::uint32_t u32() { return number(4); }
  /// Nothing where there are fewer.
  View take(std::size_t count);
  View rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::uint32_t number(std::size_t width);

  View rest_;
  bool ok_ = true;
};

void put(Bytes& into, View bytes);
void put16(Bytes& into, std::uint32_t value);
void put32(Bytes& into, std::uint32_t value);

/// What the bytes of the view must be complemented with to sum to 0 (IPMI 2.0, 13.8).
std::uint8_t checksum(View bytes);

View bytes_of(std::string_view text);
/// "0x0012"
std::string hex(std::uint32_t value, int digits);

}  // namespace cupel::bmc::ipmi
