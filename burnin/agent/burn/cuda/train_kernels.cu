// Device code of `train`. Nothing here adds up in an order that may change from run to run.
#include <cuda_bf16.h>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/launch.h"
#include "burnin/agent/burn/cuda/train_kernels.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

/// Eight values of bf16, read and written at once.
struct __align__(16) Eight {
  __nv_bfloat162 pairs[4];
};

struct Values {
  float at[8];
};

__device__ Values read(const Eight* from) {
  const Eight eight = *from;
  Values values;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const float2 two = __bfloat1622float2(eight.pairs[pair]);
    values.at[2 * pair] = two.x;
    values.at[2 * pair + 1] = two.y;
  }
  return values;
}

__device__ void write(Eight* to, const Values& values) {
  Eight eight;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair)
    eight.pairs[pair] = __floats2bfloat162_rn(values.at[2 * pair], values.at[2 * pair + 1]);
  *to = eight;
}

__device__ std::uint64_t first() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t step() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// Over the block, to all of its threads, always in the same order.
template <class Join>
__device__ float joined_over_block(float value, Join join) {
  __shared__ float of_warp[kThreads / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value = join(value, __shfl_xor_sync(~0u, value, lanes));
  __syncthreads();  // from the call before
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value = join(value, of_warp[warp]);
  return value;
}
__device__ float sum_over_block(float value) {
  return joined_over_block(value, [](float a, float b) { return a + b; });
}

__global__ void normal_kernel(Eight* out, std::uint64_t eights, std::uint64_t seed, float scale) {
  for (auto at = first(); at < eights; at += step()) {
    Values values;
    for (int i = 0; i < 8; ++i) values.at[i] = scale * normal_at(seed, 8 * at + i);
    write(&out[at], values);
  }
}

__global__ void weights_kernel(float* master, Eight* weights, float2* moments, std::uint64_t eights,
                               std::uint64_t seed, float scale) {
  for (auto at = first(); at < eights; at += step()) {
    Values values;
    for (int i = 0; i < 8; ++i) {
      values.at[i] = scale * normal_at(seed, 8 * at + i);
      master[8 * at + i] = values.at[i];
      moments[8 * at + i] = {0, 0};
    }
    write(&weights[at], values);
  }
}

__global__ void norm_kernel(const Eight* x, Eight* y, float* inverse, int eights) {
  const auto row = std::uint64_t{blockIdx.x} * eights;
  float squares = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto values = read(&x[row + at]);
    for (const float value : values.at) squares += value * value;
  }
  const float scale = rsqrtf(sum_over_block(squares) / (8.0f * static_cast<float>(eights)) + 1e-6f);
  if (threadIdx.x == 0) inverse[blockIdx.x] = scale;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    auto values = read(&x[row + at]);
    for (float& value : values.at) value *= scale;
    write(&y[row + at], values);
  }
}

__global__ void norm_back_kernel(const Eight* dy, const Eight* y, const float* inverse, Eight* dx,
                                 bool fresh, int eights) {
  const auto row = std::uint64_t{blockIdx.x} * eights;
  float products = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto of = read(&dy[row + at]);
    const auto values = read(&y[row + at]);
    for (int i = 0; i < 8; ++i) products += of.at[i] * values.at[i];
  }
  const float mean = sum_over_block(products) / (8.0f * static_cast<float>(eights));
  const float scale = inverse[blockIdx.x];
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto of = read(&dy[row + at]);
    const auto values = read(&y[row + at]);
    auto sum = fresh ? Values{} : read(&dx[row + at]);
    for (int i = 0; i < 8; ++i) sum.at[i] += (of.at[i] - values.at[i] * mean) * scale;
    write(&dx[row + at], sum);
  }
}

constexpr float kGelu = 0.7978845608f;  // sqrt(2 / pi)

__global__ void gelu_kernel(const Eight* x, Eight* y, std::uint64_t eights) {
  for (auto at = first(); at < eights; at += step()) {
    auto values = read(&x[at]);
    for (float& v : values.at) v = 0.5f * v * (1 + tanhf(kGelu * (v + 0.044715f * v * v * v)));
    write(&y[at], values);
  }
}

__global__ void gelu_back_kernel(const Eight* x, Eight* dy, std::uint64_t eights) {
  for (auto at = first(); at < eights; at += step()) {
    const auto values = read(&x[at]);
    auto of = read(&dy[at]);
    for (int i = 0; i < 8; ++i) {
      const float v = values.at[i];
      const float t = tanhf(kGelu * (v + 0.044715f * v * v * v));
      of.at[i] *= 0.5f * (1 + t) + 0.5f * v * (1 - t * t) * kGelu * (1 + 3 * 0.044715f * v * v);
    }
    write(&dy[at], of);
  }
}

__global__ void softmax_kernel(Eight* scores, int eights) {
  Eight* row = scores + std::uint64_t{blockIdx.x} * eights;
  const int query = static_cast<int>(blockIdx.x % (8u * eights));
  float largest = -3e38f;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto values = read(&row[at]);
    for (int i = 0; i < 8; ++i)
      if (8 * at + i <= query) largest = fmaxf(largest, values.at[i]);
  }
  largest = joined_over_block(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto values = read(&row[at]);
    for (int i = 0; i < 8; ++i)
      if (8 * at + i <= query) sum += __expf(values.at[i] - largest);
  }
  const float share = 1 / sum_over_block(sum);
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    auto values = read(&row[at]);
    for (int i = 0; i < 8; ++i)
      values.at[i] = 8 * at + i <= query ? __expf(values.at[i] - largest) * share : 0;
    write(&row[at], values);
  }
}

__global__ void softmax_back_kernel(const Eight* p, Eight* dp, int eights) {
  const auto row = std::uint64_t{blockIdx.x} * eights;
  float products = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    const auto of = read(&dp[row + at]);
    const auto values = read(&p[row + at]);
    for (int i = 0; i < 8; ++i) products += of.at[i] * values.at[i];
  }
  const float sum = sum_over_block(products);
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    auto of = read(&dp[row + at]);
    const auto values = read(&p[row + at]);
    for (int i = 0; i < 8; ++i) of.at[i] = values.at[i] * (of.at[i] - sum);
    write(&dp[row + at], of);
  }
}

__global__ void loss_kernel(const Eight* y, const Eight* target, Eight* dy, float* of_token,
                            int eights, float share) {
  const auto row = std::uint64_t{blockIdx.x} * eights;
  float squares = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    auto values = read(&y[row + at]);
    const auto wanted = read(&target[row + at]);
    for (int i = 0; i < 8; ++i) {
      const float apart = values.at[i] - wanted.at[i];
      squares += apart * apart;
      values.at[i] = apart * share;
    }
    write(&dy[row + at], values);
  }
  const float sum = sum_over_block(squares);
  if (threadIdx.x == 0) of_token[blockIdx.x] = sum;
}

__global__ void mean_kernel(const float* of_token, std::uint64_t tokens, double all, double* loss) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (std::uint64_t at = threadIdx.x; at < tokens; at += kThreads) sum += of_token[at];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int thread = 1; thread < kThreads; ++thread) sum += sums[thread];
  *loss = 0.5 * sum / all;
}

struct Rates {
  float share, first_left, second_left;  // 1 - beta^step, inverted
};

__global__ void adamw_kernel(float* master, Eight* weights, float2* moments, const Eight* gradients,
                             Rates rates, std::uint64_t eights) {
  constexpr float kRate = 1e-4f;
  constexpr float kDecay = 0.1f;
  for (auto at = first(); at < eights; at += step()) {
    const auto of = read(&gradients[at]);
    Values rounded;
    for (int i = 0; i < 8; ++i) {
      const float gradient = of.at[i] * rates.share;
      float2 moment = moments[8 * at + i];
      moment.x = 0.9f * moment.x + 0.1f * gradient;
      moment.y = 0.95f * moment.y + 0.05f * gradient * gradient;
      moments[8 * at + i] = moment;
      float weight = master[8 * at + i];
      weight -=
          kRate * (moment.x * rates.first_left / (sqrtf(moment.y * rates.second_left) + 1e-8f) +
                   kDecay * weight);
      master[8 * at + i] = weight;
      rounded.at[i] = weight;
    }
    write(&weights[at], rounded);
  }
}

__global__ void checksum_kernel(const ulonglong2* memory, std::uint64_t pairs, std::uint64_t* sum) {
  std::uint64_t mine = 0;
  for (auto at = first(); at < pairs; at += step()) {
    const auto two = memory[at];
    mine += check_term(two.x, 2 * at) + check_term(two.y, 2 * at + 1);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(~0u, mine, lanes);
  // Whole numbers: the order does not matter.
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), mine);
}

__global__ void pieces_kernel(const Eight* pieces, int ranks, Eight* out, std::uint64_t eights) {
  for (auto at = first(); at < eights; at += step()) {
    auto sum = read(&pieces[at]);
    for (int rank = 1; rank < ranks; ++rank) {
      const auto values = read(&pieces[rank * eights + at]);
      for (int i = 0; i < 8; ++i) sum.at[i] += values.at[i];
    }
    write(&out[at], sum);
  }
}

const Eight* in(const void* memory) { return static_cast<const Eight*>(memory); }
Eight* out_of(void* memory) { return static_cast<Eight*>(memory); }
int eighth(std::uint64_t width) { return static_cast<int>(width / 8); }
unsigned blocks(std::uint64_t rows) { return static_cast<unsigned>(rows); }

}  // namespace

void normal_bf16(void* out, std::uint64_t count, std::uint64_t seed, float scale,
                 CUstream_st* stream) {
  launch(normal_kernel, kBlocks, kThreads, stream, out_of(out), count / 8, seed, scale);
}

void first_weights(float* master, void* weights, float* moments, std::uint64_t count,
                   std::uint64_t seed, float scale, CUstream_st* stream) {
  launch(weights_kernel, kBlocks, kThreads, stream, master, out_of(weights),
         reinterpret_cast<float2*>(moments), count / 8, seed, scale);
}

void norm(const void* x, void* y, float* inverse, std::uint64_t width, std::uint64_t tokens,
          CUstream_st* stream) {
  launch(norm_kernel, blocks(tokens), kThreads, stream, in(x), out_of(y), inverse, eighth(width));
}

void norm_back(const void* dy, const void* y, const float* inverse, void* dx, bool fresh,
               std::uint64_t width, std::uint64_t tokens, CUstream_st* stream) {
  launch(norm_back_kernel, blocks(tokens), kThreads, stream, in(dy), in(y), inverse, out_of(dx),
         fresh, eighth(width));
}

void gelu(const void* x, void* y, std::uint64_t count, CUstream_st* stream) {
  launch(gelu_kernel, kBlocks, kThreads, stream, in(x), out_of(y), count / 8);
}

void gelu_back(const void* x, void* dy, std::uint64_t count, CUstream_st* stream) {
  launch(gelu_back_kernel, kBlocks, kThreads, stream, in(x), out_of(dy), count / 8);
}

void softmax(void* scores, std::uint64_t sequence, std::uint64_t queries, CUstream_st* stream) {
  launch(softmax_kernel, blocks(queries), kThreads, stream, out_of(scores), eighth(sequence));
}

void softmax_back(const void* p, void* dp, std::uint64_t sequence, std::uint64_t queries,
                  CUstream_st* stream) {
  launch(softmax_back_kernel, blocks(queries), kThreads, stream, in(p), out_of(dp),
         eighth(sequence));
}

void loss_and_gradient(const void* y, const void* target, void* dy, float* of_token, double* loss,
                       std::uint64_t width, std::uint64_t tokens, CUstream_st* stream) {
  launch(loss_kernel, blocks(tokens), kThreads, stream, in(y), in(target), out_of(dy), of_token,
         eighth(width), 1.0f / static_cast<float>(tokens));
  launch(mean_kernel, 1, kThreads, stream, of_token, tokens, static_cast<double>(tokens * width),
         loss);
}

void adamw(float* master, void* weights, float* moments, const void* gradients, float share,
           std::uint64_t count, int step, CUstream_st* stream) {
  const Rates rates{share, static_cast<float>(1 / (1 - pow(0.9, step))),
                    static_cast<float>(1 / (1 - pow(0.95, step)))};
  launch(adamw_kernel, kBlocks, kThreads, stream, master, out_of(weights),
         reinterpret_cast<float2*>(moments), in(gradients), rates, count / 8);
}

void add_checksum(const void* memory, std::uint64_t words, std::uint64_t* sum,
                  CUstream_st* stream) {
  launch(checksum_kernel, kBlocks, kThreads, stream, static_cast<const ulonglong2*>(memory),
         words / 2, sum);
}

void add_pieces(const void* pieces, int ranks, void* out, std::uint64_t count,
                CUstream_st* stream) {
  launch(pieces_kernel, kBlocks, kThreads, stream, in(pieces), ranks, out_of(out), count / 8);
}

}  // namespace cupel::burn
