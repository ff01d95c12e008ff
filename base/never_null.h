#pragma once
// Texts for parsers of other libraries: many take what data() returns for the address of characters
// even where there are none, and an empty std::string_view may have no address.
#include <string_view>

namespace cupel {

/// `text`, at an address in any case.
constexpr std::string_view never_null(std::string_view text) {
  return text.empty() ? std::string_view{""} : text;
}

}  // namespace cupel
