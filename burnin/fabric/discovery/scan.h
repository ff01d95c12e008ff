#pragma once
// A line from outside, taken apart from left to right. Nothing throws; what is absent is empty.
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace cupel::burnin {

/// Most bytes of one report of a fabric: Selene's, of 666 switches, has 3 MB.
inline constexpr std::size_t kLargestReport = 256u << 20;

class Scan {
 public:
  explicit Scan(std::string_view text) : rest_{text} {}

  std::string_view rest() const { return rest_; }
  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  /// What stands before `word`, which is skipped too; nothing where it does not occur.
  std::optional<std::string_view> until(std::string_view word) {
    const auto at = rest_.find(word);
    if (at == rest_.npos) return std::nullopt;
    const auto before = rest_.substr(0, at);
    rest_.remove_prefix(at + word.size());
    return before;
  }
  template <class Number>
  std::optional<Number> number() {
    Number value{};
    return taken(value, std::from_chars(rest_.data(), rest_.data() + rest_.size(), value));
  }
  std::optional<std::uint64_t> hexadecimal() {
    constexpr int kBase = 16;
    std::uint64_t value = 0;
    return taken(value, std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, kBase));
  }

 private:
  template <class Number>
  std::optional<Number> taken(const Number& value, std::from_chars_result result) {
    if (result.ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
};

/// Calls `with` for each line of a text, without blanks and control characters at its ends.
template <class With>
void for_each_line(std::string_view text, const With& with) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.remove_suffix(1);
    while (!line.empty() && static_cast<unsigned char>(line.front()) <= ' ') line.remove_prefix(1);
    with(line);
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace cupel::burnin
