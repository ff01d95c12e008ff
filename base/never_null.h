#pragma once
// Texts for parsers of other libraries: many take what data() returns for the address of characters
// even where there are none, and an empty std::string_view may have no address. Some read on to a
// NUL, and behind a view there need be none.
#include <string>
#include <string_view>

namespace cupel {

/// `text`, at an address in any case.
constexpr std::string_view never_null(std::string_view text) {
  return text.empty() ? std::string_view{""} : text;
}

/// A copy of a text with a NUL behind it. What a parser returns may point into it.
class Terminated {
 public:
  explicit Terminated(std::string_view text) : text_{text} {}
  std::string_view view() const& { return text_; }
  std::string_view view() const&& = delete;

 private:
  std::string text_;
};

}  // namespace cupel
