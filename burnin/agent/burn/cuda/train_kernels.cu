// Device code of `train`. Nothing here adds up in an order that may change from run to run.
#include <cuda_bf16.h>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/train_entries.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;

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

constexpr float kGelu = 0.7978845608f;  // sqrt(2 / pi)

}  // namespace

CUPEL_KERNEL train_normal(void* out_, std::uint64_t eights, std::uint64_t seed, float scale) {
  auto* out = static_cast<Eight*>(out_);
  for (auto at = first(); at < eights; at += step()) {
    Values values;
    for (int i = 0; i < 8; ++i) values.at[i] = scale * normal_at(seed, 8 * at + i);
    write(&out[at], values);
  }
}

CUPEL_KERNEL train_weights(float* master, void* weights_, void* moments_, std::uint64_t eights,
                           std::uint64_t seed, float scale) {
  auto* weights = static_cast<Eight*>(weights_);
  auto* moments = static_cast<float2*>(moments_);
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

CUPEL_KERNEL train_norm(const void* x_, void* y_, float* inverse, int eights) {
  const auto* x = static_cast<const Eight*>(x_);
  auto* y = static_cast<Eight*>(y_);
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

CUPEL_KERNEL train_norm_back(const void* dy_, const void* y_, const float* inverse, void* dx_,
                             bool fresh, int eights) {
  const auto* dy = static_cast<const Eight*>(dy_);
  const auto* y = static_cast<const Eight*>(y_);
  auto* dx = static_cast<Eight*>(dx_);
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

CUPEL_KERNEL train_gelu(const void* x_, void* y_, std::uint64_t eights) {
  const auto* x = static_cast<const Eight*>(x_);
  auto* y = static_cast<Eight*>(y_);
  for (auto at = first(); at < eights; at += step()) {
    auto values = read(&x[at]);
    for (float& v : values.at) v = 0.5f * v * (1 + tanhf(kGelu * (v + 0.044715f * v * v * v)));
    write(&y[at], values);
  }
}

CUPEL_KERNEL train_gelu_back(const void* x_, void* dy_, std::uint64_t eights) {
  const auto* x = static_cast<const Eight*>(x_);
  auto* dy = static_cast<Eight*>(dy_);
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

CUPEL_KERNEL train_softmax(void* scores, int eights) {
  Eight* row = static_cast<Eight*>(scores) + std::uint64_t{blockIdx.x} * eights;
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

CUPEL_KERNEL train_softmax_back(const void* p_, void* dp_, int eights) {
  const auto* p = static_cast<const Eight*>(p_);
  auto* dp = static_cast<Eight*>(dp_);
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

CUPEL_KERNEL train_loss(const void* y_, const void* target_, void* dy_, float* of_token, int eights,
                        float share) {
  const auto* y = static_cast<const Eight*>(y_);
  const auto* target = static_cast<const Eight*>(target_);
  auto* dy = static_cast<Eight*>(dy_);
  const auto row = std::uint64_t{blockIdx.x} * eights;
  float squares = 0;
  for (int at = threadIdx.x; at < eights; at += kThreads) {
    auto values = read(&y[row + at]);
    const auto expected = read(&target[row + at]);
    for (int i = 0; i < 8; ++i) {
      const float apart = values.at[i] - expected.at[i];
      squares += apart * apart;
      values.at[i] = apart * share;
    }
    write(&dy[row + at], values);
  }
  const float sum = sum_over_block(squares);
  if (threadIdx.x == 0) of_token[blockIdx.x] = sum;
}

CUPEL_KERNEL train_mean(const float* of_token, std::uint64_t tokens, double all, double* loss) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (std::uint64_t at = threadIdx.x; at < tokens; at += kThreads) sum += of_token[at];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int thread = 1; thread < kThreads; ++thread) sum += sums[thread];
  *loss = 0.5 * sum / all;
}

CUPEL_KERNEL train_adamw(float* master, void* weights_, void* moments_, const void* gradients_,
                         OptimizerRates rates, std::uint64_t eights) {
  auto* weights = static_cast<Eight*>(weights_);
  auto* moments = static_cast<float2*>(moments_);
  const auto* gradients = static_cast<const Eight*>(gradients_);
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

CUPEL_KERNEL train_checksum(const void* memory_, std::uint64_t pairs, std::uint64_t* sum) {
  const auto* memory = static_cast<const ulonglong2*>(memory_);
  std::uint64_t mine = 0;
  for (auto at = first(); at < pairs; at += step()) {
    const auto two = memory[at];
    mine += check_term(two.x, 2 * at) + check_term(two.y, 2 * at + 1);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(~0u, mine, lanes);
  // Whole numbers: the order does not matter.
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), mine);
}

CUPEL_KERNEL train_pieces(const void* pieces_, int ranks, void* out_, std::uint64_t eights) {
  const auto* pieces = static_cast<const Eight*>(pieces_);
  auto* out = static_cast<Eight*>(out_);
  for (auto at = first(); at < eights; at += step()) {
    auto sum = read(&pieces[at]);
    for (int rank = 1; rank < ranks; ++rank) {
      const auto values = read(&pieces[rank * eights + at]);
      for (int i = 0; i < 8; ++i) sum.at[i] += values.at[i];
    }
    write(&out[at], sum);
  }
}

}  // namespace cupel::burn
