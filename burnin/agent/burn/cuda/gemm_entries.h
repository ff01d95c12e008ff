#pragma once
// The kernels of gemm_kernels.cu, by the names by which they are launched.
#include <cstdint>

#include "burnin/agent/burn/checked.h"
#include "burnin/agent/burn/cuda/kernel.h"
#include "burnin/agent/burn/planting.h"
#include "burnin/agent/burn/shapes.h"

namespace cupel::burn {

CUPEL_KERNEL gemm_fill(Type type, void* out, std::uint64_t count, std::uint64_t seed);
/// A block for each chunk.
CUPEL_KERNEL gemm_sum(const void* memory, std::uint64_t* sums);
CUPEL_KERNEL gemm_check(const void* memory, const std::uint64_t* sums, std::uint64_t rotation,
                        std::uint64_t product, WrongChunks* found, void* evidence);
/// A block for each sample. Tolerated: `of_result` * |plain sum| + `at_least`.
CUPEL_KERNEL gemm_sample(ProductShape shape, double of_result, double at_least, const void* a,
                         const void* b, const void* c, std::uint64_t seed, WrongSamples* found);
CUPEL_KERNEL gemm_plant(void* memory, std::uint64_t element_bytes, Planting planting);
CUPEL_KERNEL gemm_flip(void* memory, std::uint64_t bit);

}  // namespace cupel::burn
