#pragma once
// What a GPU found wrong in what arrived: how many words, and the first few of them. The same
// memory layout on the host and on the GPU.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

namespace cupel::burn {

struct Mismatches {
  static constexpr int kShown = 4;

  unsigned long long count = 0;
  unsigned long long index[kShown] = {};  // of the word
  unsigned long long got[kShown] = {};
  unsigned long long want[kShown] = {};
};

/// "5 of 1024 words are wrong; word 17 is 0x1, should be 0x3 (bit 1)". The lowest of those kept.
inline std::string words_of(const Mismatches& found, std::uint64_t words) {
  if (found.count == 0) return "none of " + std::to_string(words) + " words are wrong";
  const auto kept = std::min<unsigned long long>(found.count, Mismatches::kShown);
  const auto* const first = std::min_element(found.index, found.index + kept);
  const auto at = first - found.index;
  const auto hex = [](unsigned long long value) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    do {
      text.insert(text.begin(), kDigits[value & 15]);
      value >>= 4;
    } while (value != 0);
    return "0x" + text;
  };
  auto text = std::to_string(found.count) + " of " + std::to_string(words) +
              " words are wrong; word " + std::to_string(*first) + " is " + hex(found.got[at]) +
              ", should be " + hex(found.want[at]);
  const auto flipped = found.got[at] ^ found.want[at];
  if (flipped != 0 && (flipped & (flipped - 1)) == 0)
    text += " (bit " + std::to_string(std::countr_zero(flipped)) + ")";
  return text;
}

}  // namespace cupel::burn
