// Device code of `gemm`. The arithmetic that must be right on both sides is in arithmetic.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_entries.h"
#include "burnin/agent/burn/cuda/streamed.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = kChunkBytes / 16 / kThreads;  // of 16 bytes, of each thread

template <class T>
__device__ T element_of(std::uint64_t seed, std::uint64_t at) {
  const float value = normal_at(seed, at);
  if constexpr (std::is_same_v<T, float>)  // tf32 has ten bits of mantissa
    return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
  else if constexpr (std::is_same_v<T, double>)  // with all of its mantissa in use
    return value + static_cast<double>(random_at(~seed, at) >> 11) * 0x1p-77;
  else
    return T(value);
}

template <class T>
__device__ void fill(T* out, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < count;
       at += step)
    out[at] = element_of<T>(seed, at);
}

__device__ std::uint64_t sum_of_warp(std::uint64_t sum) {
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  return sum;
}

/// The same for all threads of the block.
__device__ std::uint64_t sum_of_chunk(const uint4* chunk, std::uint64_t first_word) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int group = 0; group < kVectors; group += 8) {
    uint4 loaded[8];  // several loads under way before the first is needed
#pragma unroll
    for (int at = 0; at < 8; ++at)
      loaded[at] = read_once(&chunk[(group + at) * kThreads + threadIdx.x]);
#pragma unroll
    for (int at = 0; at < 8; ++at) {
      const std::uint64_t word = first_word + 2 * ((group + at) * kThreads + threadIdx.x);
      sum += check_term(loaded[at].x | std::uint64_t{loaded[at].y} << 32, word);
      sum += check_term(loaded[at].z | std::uint64_t{loaded[at].w} << 32, word + 1);
    }
  }
  __shared__ std::uint64_t sums[kThreads / 32];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) sum += sums[warp];
  return sum;
}

template <class T>
__device__ double as_double(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <>
__device__ double as_double(double value) {
  return value;
}

/// `sums`: of the block's threads.
template <class In, class Result>
__device__ void sample(const ProductShape& shape, double of_result, double at_least, const void* a_,
                       const void* b_, const void* c_, std::uint64_t seed, WrongSamples* found,
                       double (&sums)[kThreads]) {
  const auto* a = static_cast<const In*>(a_);
  const auto* b = static_cast<const In*>(b_);
  const auto* c = static_cast<const Result*>(c_);
  const std::uint64_t chosen = random_at(seed, blockIdx.x);
  const std::uint64_t i = (chosen & 0xffffffff) % shape.m;
  const std::uint64_t j = (chosen >> 32) % shape.n;
  double sum = 0;
  for (std::uint64_t at = threadIdx.x; at < shape.k; at += kThreads)
    sum = fma(as_double(a[i * shape.k + at]), as_double(b[j * shape.k + at]), sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  atomicAdd(&found->checked, 1u);
  const double got = as_double(c[i + j * shape.m]);
  if (fabs(got - sums[0]) <= of_result * fabs(sums[0]) + at_least) return;  // NaN is not below
  const unsigned slot = atomicAdd(&found->count, 1u);
  if (slot >= kMostEvidence) return;
  found->list[slot].i = i;
  found->list[slot].j = j;
  found->list[slot].got = got;
  found->list[slot].plain = sums[0];
}

template <class Element>
__device__ void plant(Element* memory, const Planting& planting) {
  for (std::uint64_t at = threadIdx.x; at < planting.count; at += blockDim.x) {
    auto& element = memory[planting.first + at * planting.stride];
    element = static_cast<Element>(planting.planted(element));
  }
}

}  // namespace

// Which type it is, is asked once, outside of all loops.

CUPEL_KERNEL __launch_bounds__(kThreads)
    gemm_fill(Type type, void* out, std::uint64_t count, std::uint64_t seed) {
  switch (type) {
    case Type::kBf16:
      return fill(static_cast<__nv_bfloat16*>(out), count, seed);
    case Type::kFp16:
      return fill(static_cast<__half*>(out), count, seed);
    case Type::kTf32:
      return fill(static_cast<float*>(out), count, seed);
    case Type::kFp8:
      return fill(static_cast<__nv_fp8_e4m3*>(out), count, seed);
    case Type::kFp64:
      return fill(static_cast<double*>(out), count, seed);
  }
}

CUPEL_KERNEL __launch_bounds__(kThreads) gemm_sum(const void* memory, std::uint64_t* sums) {
  const std::uint64_t chunk = blockIdx.x;
  const auto* from = static_cast<const uint4*>(memory) + chunk * (kChunkBytes / 16);
  const auto sum = sum_of_chunk(from, chunk * (kChunkBytes / 8));
  if (threadIdx.x == 0) sums[chunk] = sum;
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    gemm_check(const void* memory, const std::uint64_t* sums, std::uint64_t rotation,
               std::uint64_t product, WrongChunks* found, void* evidence) {
  const std::uint64_t chunk = (blockIdx.x + rotation) % gridDim.x;
  const uint4* from = static_cast<const uint4*>(memory) + blockIdx.x * (kChunkBytes / 16);
  const bool differs = sum_of_chunk(from, chunk * (kChunkBytes / 8)) != sums[chunk];
  if (__syncthreads_or(differs) == 0) return;  // all or none go on, also where an SM is broken
  __shared__ unsigned slot;
  if (threadIdx.x == 0) {
    slot = atomicAdd(&found->count, 1u);
    if (slot < kMostEvidence) {
      found->list[slot].product = product;
      found->list[slot].chunk = chunk;
    }
  }
  __syncthreads();
  if (slot >= kMostEvidence) return;
  auto* to = static_cast<uint4*>(evidence) + slot * (kChunkBytes / 16);
  for (int at = threadIdx.x; at < static_cast<int>(kChunkBytes / 16); at += kThreads)
    to[at] = read_again(&from[at]);
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    gemm_sample(ProductShape shape, double of_result, double at_least, const void* a, const void* b,
                const void* c, std::uint64_t seed, WrongSamples* found) {
  using Bf16 = __nv_bfloat16;
  __shared__ double sums[kThreads];
  switch (shape.type) {
    case Type::kBf16:
      return sample<Bf16, Bf16>(shape, of_result, at_least, a, b, c, seed, found, sums);
    case Type::kFp16:
      return sample<__half, __half>(shape, of_result, at_least, a, b, c, seed, found, sums);
    case Type::kTf32:
      return sample<float, float>(shape, of_result, at_least, a, b, c, seed, found, sums);
    case Type::kFp8:
      return sample<__nv_fp8_e4m3, Bf16>(shape, of_result, at_least, a, b, c, seed, found, sums);
    case Type::kFp64:
      return sample<double, double>(shape, of_result, at_least, a, b, c, seed, found, sums);
  }
}

CUPEL_KERNEL gemm_plant(void* memory, std::uint64_t element_bytes, Planting planting) {
  if (element_bytes == 2)
    plant(static_cast<std::uint16_t*>(memory), planting);
  else if (element_bytes == 4)
    plant(static_cast<std::uint32_t*>(memory), planting);
  else
    plant(static_cast<std::uint64_t*>(memory), planting);
}

CUPEL_KERNEL gemm_flip(void* memory, std::uint64_t bit) {
  static_cast<unsigned*>(memory)[bit / 32] ^= 1u << (bit % 32);
}

}  // namespace cupel::burn
