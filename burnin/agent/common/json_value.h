#pragma once
// Reads one JSON document (RFC 8259) of bounded size and depth: what a boot server sends, and what
// tools print with --json. Strict; a duplicate key is an error, since two readers would differ.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

class JsonValue {
 public:
  static constexpr std::size_t kMostBytes = 512 * 1024;
  static constexpr int kMostDepth = 32;

  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue, std::less<>>;

  /// Errors: kMalformed, with the byte where it stopped.
  static Result<JsonValue> parse(std::string_view text);

  JsonValue() = default;
  explicit JsonValue(bool value) : value_{value} {}
  explicit JsonValue(double value) : value_{value} {}
  explicit JsonValue(std::string value) : value_{std::move(value)} {}
  explicit JsonValue(Array value) : value_{std::move(value)} {}
  explicit JsonValue(Object value) : value_{std::move(value)} {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* boolean() const { return std::get_if<bool>(&value_); }
  const double* number() const { return std::get_if<double>(&value_); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Object* object() const { return std::get_if<Object>(&value_); }

  /// A whole number from 0 to 2^53; nothing of any other.
  std::optional<std::uint64_t> count() const;
  /// What an object has there; null without it, or where this is no object.
  const JsonValue* find(std::string_view key) const;

 private:
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_ = nullptr;
};

}  // namespace cupel::agent
