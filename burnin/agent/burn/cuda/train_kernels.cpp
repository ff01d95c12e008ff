#include "burnin/agent/burn/cuda/train_kernels.h"

#include <cmath>

#include "burnin/agent/burn/cuda/launch.h"
#include "burnin/agent/burn/cuda/train_entries.h"

namespace cupel::burn {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 2048;

std::uint64_t eighth(std::uint64_t count) { return count / 8; }

/// A block for each.
unsigned rows(std::uint64_t count) { return static_cast<unsigned>(count); }

}  // namespace

void normal_bf16(void* out, std::uint64_t count, std::uint64_t seed, float scale,
                 CUstream_st* stream) {
  CUPEL_LAUNCH(train_normal, kBlocks, kThreads, stream, out, eighth(count), seed, scale);
}

void first_weights(float* master, void* weights, float* moments, std::uint64_t count,
                   std::uint64_t seed, float scale, CUstream_st* stream) {
  CUPEL_LAUNCH(train_weights, kBlocks, kThreads, stream, master, weights, moments, eighth(count),
               seed, scale);
}

void norm(const void* x, void* y, float* inverse, std::uint64_t width, std::uint64_t tokens,
          CUstream_st* stream) {
  CUPEL_LAUNCH(train_norm, rows(tokens), kThreads, stream, x, y, inverse, eighth(width));
}

void norm_back(const void* dy, const void* y, const float* inverse, void* dx, bool fresh,
               std::uint64_t width, std::uint64_t tokens, CUstream_st* stream) {
  CUPEL_LAUNCH(train_norm_back, rows(tokens), kThreads, stream, dy, y, inverse, dx, fresh,
               eighth(width));
}

void gelu(const void* x, void* y, std::uint64_t count, CUstream_st* stream) {
  CUPEL_LAUNCH(train_gelu, kBlocks, kThreads, stream, x, y, eighth(count));
}

void gelu_back(const void* x, void* dy, std::uint64_t count, CUstream_st* stream) {
  CUPEL_LAUNCH(train_gelu_back, kBlocks, kThreads, stream, x, dy, eighth(count));
}

void softmax(void* scores, std::uint64_t sequence, std::uint64_t queries, CUstream_st* stream) {
  CUPEL_LAUNCH(train_softmax, rows(queries), kThreads, stream, scores, eighth(sequence));
}

void softmax_back(const void* p, void* dp, std::uint64_t sequence, std::uint64_t queries,
                  CUstream_st* stream) {
  CUPEL_LAUNCH(train_softmax_back, rows(queries), kThreads, stream, p, dp, eighth(sequence));
}

void loss_and_gradient(const void* y, const void* target, void* dy, float* of_token, double* loss,
                       std::uint64_t width, std::uint64_t tokens, CUstream_st* stream) {
  CUPEL_LAUNCH(train_loss, rows(tokens), kThreads, stream, y, target, dy, of_token, eighth(width),
               1.0f / static_cast<float>(tokens));
  CUPEL_LAUNCH(train_mean, 1, kThreads, stream, of_token, tokens,
               static_cast<double>(tokens * width), loss);
}

void adamw(float* master, void* weights, float* moments, const void* gradients, float share,
           std::uint64_t count, int step, CUstream_st* stream) {
  const OptimizerRates rates{share, static_cast<float>(1 / (1 - std::pow(0.9, step))),
                             static_cast<float>(1 / (1 - std::pow(0.95, step)))};
  CUPEL_LAUNCH(train_adamw, kBlocks, kThreads, stream, master, weights, moments, gradients, rates,
               eighth(count));
}

void add_checksum(const void* memory, std::uint64_t words, std::uint64_t* sum,
                  CUstream_st* stream) {
  CUPEL_LAUNCH(train_checksum, kBlocks, kThreads, stream, memory, words / 2, sum);
}

void add_pieces(const void* pieces, int ranks, void* out, std::uint64_t count,
                CUstream_st* stream) {
  CUPEL_LAUNCH(train_pieces, kBlocks, kThreads, stream, pieces, ranks, out, eighth(count));
}

}  // namespace cupel::burn
