#include "orchestrator/store/packed_text.h"

#include <array>
#include <cstdint>

#include "orchestrator/store/gzip.h"

namespace cupel::store {
namespace {

constexpr std::string_view kMark = "gz:";
constexpr std::size_t kWorthwhile = 4096;  // bytes: a page of the database
constexpr std::size_t kLargest = 512u << 20;

constexpr std::string_view kDigits64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kValues64 = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kDigits64.size(); ++i)
    values[static_cast<unsigned char>(kDigits64[i])] = static_cast<std::int8_t>(i);
  return values;
}();

/// Source: RFC 4648, 4.
void append_base64(std::string& text, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto here = bytes.substr(i, 3);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < here.size() ? static_cast<unsigned char>(here[k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= here.size() ? kDigits64[group >> (18 - 6 * k) & 63] : '=';
  }
}

/// Empty if it is no base64 with all its padding.
std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int bits = 0;
  for (; text.ends_with('='); text.remove_suffix(1)) {
  }
  for (const char digit : text) {
    const auto value = kValues64[static_cast<unsigned char>(digit)];
    if (value < 0) return {};
    group = group << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  return bytes;
}

}  // namespace

std::string packed_text(std::string text) {
  if (text.size() < kWorthwhile) return text;
  const auto bytes = gzipped(text);
  if (bytes.size() / 3 * 4 + 8 >= text.size()) return text;
  std::string packed{kMark};
  packed.reserve(bytes.size() / 3 * 4 + 8);
  append_base64(packed, bytes);
  return packed;
}

std::string unpacked_text(std::string kept) {
  if (!kept.starts_with(kMark)) return kept;
  auto text = gunzipped(from_base64(std::string_view{kept}.substr(kMark.size())), kLargest);
  return text ? std::move(text).assume_value() : std::move(kept);
}

}  // namespace cupel::store
