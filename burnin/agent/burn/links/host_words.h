#pragma once
// The pattern in the host's memory.
#include <cstdint>
#include <span>

#include "burnin/agent/burn/links/mismatch.h"

namespace cupel::burn {

/// pattern_word(seed, 0), pattern_word(seed, 1) ...
void fill_on_host(std::span<std::uint64_t> words, std::uint64_t seed);

Mismatches check_on_host(std::span<const std::uint64_t> words, std::uint64_t seed);

}  // namespace cupel::burn
