#include "inventory/boot.h"

#include <algorithm>

namespace cupel::inventory {

bool is_image_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::string_view kSigns = "._-";
  return !name.empty() && name.size() <= kLongest && kLetters.contains(name.front()) &&
         std::ranges::all_of(name,
                             [&](char c) { return kLetters.contains(c) || kSigns.contains(c); });
}

bool is_sha256(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace cupel::inventory
