#include "burnin/agent/burn/line.h"

#include <array>
#include <charconv>
#include <cmath>

namespace cupel::burn {
namespace {

/// Drivers and firmware name things: what is not plain ASCII becomes a question mark.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += byte < 0x80 ? c : '?';
    }
  }
  return out + "\"";
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  return {digits.begin(), end};
}

Line& Line::add(std::string_view key, std::string_view text) { return raw(key, quoted(text)); }

Line& Line::add(std::string_view key, double number) { return raw(key, number_text(number)); }

Line& Line::raw(std::string_view key, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  text_ += quoted(key);
  text_ += ':';
  text_ += json;
  return *this;
}

}  // namespace cupel::burn
