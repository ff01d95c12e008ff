#pragma once
// Reads a stage's order, whose bounds the stage checks again: it works as root.
#include <array>
#include <cstdint>
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
  /// One of `words`.
  std::string word(std::string_view key, std::span<const std::string_view> words);
  /// An absolute path of letters, digits and "/._-", without "..".
  std::string folder(std::string_view key);

  /// "the order has no level from 1 to 4"; empty where nothing was missing.
  const std::string& why() const { return why_; }

 private:
  const std::string* text(std::string_view key) const;
  std::string lacks(std::string_view key, const std::string& what);

  const JsonValue& order_;
  std::string why_{};
};

}  // namespace cupel::agent
