#pragma once
// The kernels of train_kernels.cu, by the names by which they are launched. Blocks of 256 threads;
// `eights` are vectors of eight bf16: all of them, or those of one row, of which each block has
// one.
#include <cstdint>

#include "burnin/agent/burn/cuda/kernel.h"

namespace cupel::burn {

struct OptimizerRates {
  float share, first_left, second_left;  // 1 - beta^step, inverted
};

CUPEL_KERNEL train_normal(void* out, std::uint64_t eights, std::uint64_t seed, float scale);
CUPEL_KERNEL train_weights(float* master, void* weights, void* moments, std::uint64_t eights,
                           std::uint64_t seed, float scale);
CUPEL_KERNEL train_norm(const void* x, void* y, float* inverse, int eights);
CUPEL_KERNEL train_norm_back(const void* dy, const void* y, const float* inverse, void* dx,
                             bool fresh, int eights);
CUPEL_KERNEL train_gelu(const void* x, void* y, std::uint64_t eights);
CUPEL_KERNEL train_gelu_back(const void* x, void* dy, std::uint64_t eights);
CUPEL_KERNEL train_softmax(void* scores, int eights);
CUPEL_KERNEL train_softmax_back(const void* p, void* dp, int eights);
CUPEL_KERNEL train_loss(const void* y, const void* target, void* dy, float* of_token, int eights,
                        float share);
CUPEL_KERNEL train_mean(const float* of_token, std::uint64_t tokens, double all, double* loss);
CUPEL_KERNEL train_adamw(float* master, void* weights, void* moments, const void* gradients,
                         OptimizerRates rates, std::uint64_t eights);
CUPEL_KERNEL train_checksum(const void* memory, std::uint64_t pairs, std::uint64_t* sum);
CUPEL_KERNEL train_pieces(const void* pieces, int ranks, void* out, std::uint64_t eights);

}  // namespace cupel::burn
