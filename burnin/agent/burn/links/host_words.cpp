#include "burnin/agent/burn/links/host_words.h"

#include "burnin/agent/burn/links/pattern.h"

namespace cupel::burn {

void fill_on_host(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = pattern_word(seed, i);
}

Mismatches check_on_host(std::span<const std::uint64_t> words, std::uint64_t seed) {
  Mismatches found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto want = pattern_word(seed, i);
    if (words[i] == want) continue;
    const auto at = found.count++;
    if (at >= Mismatches::kShown) continue;
    found.index[at] = i;
    found.got[at] = words[i];
    found.want[at] = want;
  }
  return found;
}

}  // namespace cupel::burn
