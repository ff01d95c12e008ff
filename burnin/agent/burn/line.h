#pragma once
// One JSON object on one line, written and never read. A number that is none becomes null: missing,
// not zero.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace cupel::burn {

/// The shortest text that is this number again; "null" for NaN and infinity.
std::string number_text(double value);

class Line {
 public:
  Line() = default;
  explicit Line(std::string_view kind) { add("kind", kind); }

  Line& add(std::string_view key, std::string_view text);
  Line& add(std::string_view key, const char* text) { return add(key, std::string_view{text}); }
  Line& add(std::string_view key, double number);
  Line& add(std::string_view key, std::same_as<bool> auto yes) {
    return raw(key, yes ? "true" : "false");
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Line& add(std::string_view key, T number) {
    return raw(key, std::to_string(number));
  }
  /// `json` as it is: an object or an array.
  Line& raw(std::string_view key, std::string_view json);

  std::string object() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace cupel::burn
