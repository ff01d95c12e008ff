#pragma once
// Texts as a bad disk, a bad editor or a bad person would leave them; the same ones for the same
// seed.
#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace cupel::test {

/// One to four bytes changed, cut out, doubled or put in.
inline std::string damaged(std::string text, std::mt19937& random) {
  using namespace std::literals;
  static constexpr auto kNasty =
      "[]{}:,-*&!|>'\"%@`#=+\n\t \0\x7f\xff"
      "\r09azAZ"sv;
  const auto any = [&](std::size_t count) { return random() % std::max<std::size_t>(count, 1); };
  for (auto times = 1 + any(4); times > 0; --times) {
    const auto at = any(text.size());
    const auto length = std::min(text.size() - at, std::size_t{1} << any(8));
    switch (any(4)) {
      case 0:
        if (!text.empty()) text[at] = kNasty[any(kNasty.size())];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, 1, kNasty[any(kNasty.size())]);
    }
  }
  return text;
}

}  // namespace cupel::test
