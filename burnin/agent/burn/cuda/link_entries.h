#pragma once
// The kernels of link_kernels.cu, by the names by which they are launched.
#include <cstddef>
#include <cstdint>

#include "burnin/agent/burn/cuda/kernel.h"
#include "burnin/agent/burn/links/mismatch.h"
#include "burnin/agent/burn/links/operation.h"

namespace cupel::burn {

CUPEL_KERNEL link_fill_words(std::uint64_t* memory, std::size_t words, std::uint64_t seed);
CUPEL_KERNEL link_check_words(const std::uint64_t* memory, std::size_t words, std::uint64_t seed,
                              Mismatches* found);
CUPEL_KERNEL link_fill_numbers(void* memory, Shape shape, std::uint64_t seed, int rank);
CUPEL_KERNEL link_check_numbers(const void* memory, Shape shape, std::uint64_t seed, int rank,
                                int root, Mismatches* found);
CUPEL_KERNEL link_flip(std::uint32_t* memory, std::uint64_t word, int bit);
/// `items` of 16 bytes.
CUPEL_KERNEL link_copy(void* to, const void* from, std::size_t items);
CUPEL_KERNEL link_answer(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
                         std::uint64_t rounds);
CUPEL_KERNEL link_hold(const volatile std::uint64_t* gate);

}  // namespace cupel::burn
