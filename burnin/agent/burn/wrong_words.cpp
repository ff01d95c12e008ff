#include "burnin/agent/burn/wrong_words.h"

#include <array>
#include <bit>
#include <cstdio>

namespace cupel::burn {

std::string reported(const WrongWord& word) {
  const auto apart = word.expected ^ word.actual;
  const auto offset = word.position * 8;  // bytes
  const auto* again = word.again == word.actual     ? "the same when read again"
                      : word.again == word.expected ? "right when read again"
                                                    : "different when read again";
  std::array<char, 200> text{};
  std::snprintf(
      text.data(), text.size(), "offset 0x%llx: 0x%llx instead of 0x%llx, xor 0x%llx (%d bits), %s",
      static_cast<unsigned long long>(offset), static_cast<unsigned long long>(word.actual),
      static_cast<unsigned long long>(word.expected), static_cast<unsigned long long>(apart),
      std::popcount(apart), again);
  return text.data();
}

}  // namespace cupel::burn
