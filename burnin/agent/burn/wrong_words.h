#pragma once
// What the GPU writes down of memory that does not hold what was written to it.
#include <cstdint>
#include <string>

namespace cupel::burn {

inline constexpr int kMostWords = 256;

struct WrongWord {
  std::uint64_t position;  // in words of eight bytes from the start
  std::uint64_t expected;
  std::uint64_t actual;
  std::uint64_t again;  // read once more, past the caches where the chip can
};

struct WrongWords {
  unsigned long long count;  // all of them, also those beyond the list
  WrongWord list[kMostWords];
};

/// "offset 0x10: 0x1 instead of 0x3, xor 0x2 (1 bit), the same when read again".
std::string reported(const WrongWord& word);

}  // namespace cupel::burn
