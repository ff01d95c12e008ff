#pragma once
// Secrets left out of texts that are shown.
#include <string>
#include <string_view>

namespace cupel {

/// "(left out)" in place of each one. What was put in is not looked at again: a short secret may be
/// a part of it.
inline std::string left_out(std::string text, std::string_view secret) {
  constexpr std::string_view kInstead = "(left out)";
  if (secret.empty()) return text;
  for (auto at = text.find(secret); at != text.npos; at = text.find(secret, at + kInstead.size()))
    text.replace(at, secret.size(), kInstead);
  return text;
}

}  // namespace cupel
