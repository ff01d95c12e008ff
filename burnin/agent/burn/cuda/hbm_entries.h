#pragma once
// The kernels of hbm_kernels.cu, by the names by which they are launched. All but the last stride:
// they do all of the work whatever the grid.
#include <cstdint>

#include "burnin/agent/burn/cuda/hbm_kernels.h"
#include "burnin/agent/burn/cuda/kernel.h"

namespace cupel::burn {

CUPEL_KERNEL hbm_write(void* memory, std::uint64_t words, Written what);
CUPEL_KERNEL hbm_check(const void* memory, std::uint64_t words, Written what, WrongWords* found);
CUPEL_KERNEL hbm_invert(void* memory, std::uint64_t words, Written what, bool downwards,
                        WrongWords* found);
CUPEL_KERNEL hbm_hammer(const void* memory, std::uint64_t lines, std::uint64_t stride, int times,
                        std::uint64_t* sink);
CUPEL_KERNEL hbm_read(const void* memory, std::uint64_t words, std::uint64_t* sink);
CUPEL_KERNEL hbm_set(void* memory, std::uint64_t words, std::uint64_t value);
CUPEL_KERNEL hbm_copy(void* to, const void* from, std::uint64_t words);
CUPEL_KERNEL hbm_flip(void* memory, std::uint64_t position, std::uint64_t mask);

}  // namespace cupel::burn
