#pragma once
// Reads a stage's order, whose bounds the stage checks again: it works as root.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent/common/json_value.h"

namespace cupel::agent {

/// The longest limit of a tool, in seconds: a burn of a week, and a quarter of it and more on top.
inline constexpr std::uint64_t kLongestLimit = 9 * 86'400;

/// What is absent or out of its bounds reads as 0 or "", and why() says so of the first one.
class OrderReader {
 public:
  explicit OrderReader(const JsonValue& order) : order_{order} {}

  std::uint64_t amount(std::string_view key, std::uint64_t least, std::uint64_t most);
  /// Nothing where it is absent.
  std::optional<std::uint64_t> amount_if_any(std::string_view key, std::uint64_t least,
                                             std::uint64_t most);
  bool flag(std::string_view key);
  /// One of `words`.
  std::string word(std::string_view key, std::span<const std::string_view> words);
  /// An absolute path of letters, digits and "/._-", without "..".
  std::string folder(std::string_view key);
  /// A device's or a network interface's name: at most 64 letters, digits and "_-.", the first one
  /// a letter or a digit, so that no program takes it for an option.
  std::string name(std::string_view key);
  /// A host's name or its address, which no program takes for an option.
  std::string host(std::string_view key);
  /// Empty where it is absent.
  const JsonValue::Array& list(std::string_view key, std::size_t most);
  /// For what a stage checks by itself: "the order has no WHAT".
  void refuse(const std::string& what) { lacks(what, ""); }
  /// What one of its parts lacks.
  void also(const OrderReader& part) {
    if (why_.empty()) why_ = part.why_;
  }

  /// "the order has no level from 1 to 4"; empty where nothing was missing.
  const std::string& why() const { return why_; }

 private:
  const std::string* text(std::string_view key) const;
  std::string lacks(std::string_view key, const std::string& what);

  const JsonValue& order_;
  std::string why_{};
};

/// As OrderReader::name().
bool is_device_name(std::string_view name);

}  // namespace cupel::agent
