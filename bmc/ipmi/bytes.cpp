#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

View Reader::take(std::size_t count) {
  if (count > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::uint32_t Reader::number(std::size_t width) {
  std::uint32_t value = 0;
  const auto bytes = take(width);
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

void put(Bytes& into, View bytes) { into.insert(into.end(), bytes.begin(), bytes.end()); }

void put16(Bytes& into, std::uint32_t value) {
  into.push_back(static_cast<std::uint8_t>(value));
  into.push_back(static_cast<std::uint8_t>(value >> 8));
}

void put32(Bytes& into, std::uint32_t value) {
  put16(into, value);
  put16(into, value >> 16);
}

std::uint8_t checksum(View bytes) {
  unsigned sum = 0;
  for (const auto each : bytes) sum += each;
  return static_cast<std::uint8_t>(0u - sum);
}

View bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hex(std::uint32_t value, int digits) {
  std::string text = "0x";
  for (int at = digits - 1; at >= 0; --at) text += "0123456789abcdef"[value >> (4 * at) & 15];
  return text;
}

}  // namespace cupel::bmc::ipmi
