#pragma once
// The kernels of `train` between the matrix products. Activations are bf16, by columns: a token's
// values lie side by side. Row lengths and counts are multiples of 8.
#include <cstdint>

struct CUstream_st;

namespace cupel::burn {

void normal_bf16(void* out, std::uint64_t count, std::uint64_t seed, float scale,
                 CUstream_st* stream);
/// Weights in fp32 and, rounded, in bf16; the optimiser's moments at zero.
void first_weights(float* master, void* weights, float* moments, std::uint64_t count,
                   std::uint64_t seed, float scale, CUstream_st* stream);

/// y = x / rms(x), of each token; `inverse` keeps 1 / rms.
void norm(const void* x, void* y, float* inverse, std::uint64_t width, std::uint64_t tokens,
          CUstream_st* stream);
/// dx += the norm's gradient, or = where `fresh`.
void norm_back(const void* dy, const void* y, const float* inverse, void* dx, bool fresh,
               std::uint64_t width, std::uint64_t tokens, CUstream_st* stream);

void gelu(const void* x, void* y, std::uint64_t count, CUstream_st* stream);
/// dy becomes dx.
void gelu_back(const void* x, void* dy, std::uint64_t count, CUstream_st* stream);

/// In place, over the keys of each of `queries` columns; query q of a sequence sees keys 0 to q.
void softmax(void* scores, std::uint64_t sequence, std::uint64_t queries, CUstream_st* stream);
/// dp becomes the gradient of the scores.
void softmax_back(const void* p, void* dp, std::uint64_t sequence, std::uint64_t queries,
                  CUstream_st* stream);

/// Half the mean square of y - target, to `loss`; dy = (y - target) / tokens. Sums in an order that
/// is always the same.
void loss_and_gradient(const void* y, const void* target, void* dy, float* of_token, double* loss,
                       std::uint64_t width, std::uint64_t tokens, CUstream_st* stream);

/// AdamW. `gradients` are multiplied by `share` first: 1 / GPUs.
void adamw(float* master, void* weights, float* moments, const void* gradients, float share,
           std::uint64_t count, int step, CUstream_st* stream);

/// Adds the checksum of `words` words of eight bytes to `sum`.
void add_checksum(const void* memory, std::uint64_t words, std::uint64_t* sum, CUstream_st* stream);

/// out = the sum of `ranks` pieces of `count` values, which lie `count` apart, in their order.
void add_pieces(const void* pieces, int ranks, void* out, std::uint64_t count, CUstream_st* stream);

}  // namespace cupel::burn
