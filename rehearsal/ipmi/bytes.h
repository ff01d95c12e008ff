#pragma once
// Bytes of a datagram, least significant first as IPMI 2.0 has nearly all of them. Reading past the
// end is no accident of the reader's: it is noticed once, at the end.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cupel::rehearsal::ipmi {

using Bytes = std::vector<std::uint8_t>;
using View = std::span<const std::uint8_t>;

class Reader {
 public:
  explicit Reader(View bytes) : left_{bytes} {}

  std::uint8_t u8() { return number<std::uint8_t>(1); }
  std::uint16_t u16() { return number<std::uint16_t>(2); }
  std::uint32_t u32() { return number<std::uint32_t>(4); }
  /// Empty where there are not so many.
  View take(std::size_t count) {
    if (count > left_.size()) {
      good_ = false;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  View rest() { return take(left_.size()); }
  std::size_t left() const { return left_.size(); }
  /// False once something was missing.
  bool good() const { return good_; }

 private:
  template <class Number>
  Number number(std::size_t count) {
    const auto bytes = take(count);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint32_t{bytes[i]} << (8 * i);
    return static_cast<Number>(value);
  }

  View left_;
  bool good_ = true;
};

inline void put8(Bytes& into, unsigned value) { into.push_back(static_cast<std::uint8_t>(value)); }
inline void put16(Bytes& into, unsigned value) {
  put8(into, value & 0xFF);
  put8(into, value >> 8 & 0xFF);
}
inline void put32(Bytes& into, std::uint32_t value) {
  put16(into, value & 0xFFFF);
  put16(into, value >> 16);
}
inline void put(Bytes& into, View bytes) { into.insert(into.end(), bytes.begin(), bytes.end()); }
inline void put(Bytes& into, std::string_view text) {
  into.insert(into.end(), text.begin(), text.end());
}

/// The two's complement of the sum: whoever adds it up with this gets 0.
inline std::uint8_t checksum(View bytes) {
  unsigned sum = 0;
  for (const auto byte : bytes) sum += byte;
  return static_cast<std::uint8_t>(0x100 - (sum & 0xFF));
}

}  // namespace cupel::rehearsal::ipmi
