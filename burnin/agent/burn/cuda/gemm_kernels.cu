// NVCC
// Device code of `gemm`. The arithmetic that must be right on both sides is in arithmetic.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"

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
__global__ void fill_kernel(T* out, std::uint64_t count, std::uint64_t seed) {
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
      loaded[at] = __ldcs(&chunk[(group + at) * kThreads + threadIdx.x]);
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

__global__ void __launch_bounds__(kThreads) sum_kernel(const uint4* memory, std::uint64_t* sums) {
  const std::uint64_t chunk = blockIdx.x;
  const auto sum = sum_of_chunk(memory + chunk * (kChunkBytes / 16), chunk * (kChunkBytes / 8));
  if (threadIdx.x == 0) sums[chunk] = sum;
}

__global__ void __launch_bounds__(kThreads)
    check_kernel(const uint4* memory, const std::uint64_t* sums, std::uint64_t product,
                 WrongChunks* found, uint4* evidence) {
  const std::uint64_t chunk = blockIdx.x;
  const uint4* from = memory + chunk * (kChunkBytes / 16);
  if (sum_of_chunk(from, chunk * (kChunkBytes / 8)) == sums[chunk]) return;
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
  for (int at = threadIdx.x; at < static_cast<int>(kChunkBytes / 16); at += kThreads)
    evidence[slot * (kChunkBytes / 16) + at] = __ldcv(&from[at]);
}

template <class T>
__device__ double as_double(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <>
__device__ double as_double(double value) {
  return value;
}

template <class In, class Result>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(ProductShape shape, double of_result, double at_least, const In* a, const In* b,
                  const Result* c, std::uint64_t seed, WrongSamples* found) {
  const std::uint64_t chosen = random_at(seed, blockIdx.x);
  const std::uint64_t i = (chosen & 0xffffffff) % shape.m;
  const std::uint64_t j = (chosen >> 32) % shape.n;
  double sum = 0;
  for (std::uint64_t at = threadIdx.x; at < shape.k; at += kThreads)
    sum = fma(as_double(a[i * shape.k + at]), as_double(b[j * shape.k + at]), sum);
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
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

__global__ void flip_kernel(unsigned* memory, std::uint64_t bit) {
  memory[bit / 32] ^= 1u << (bit % 32);
}

// What every SM does. Shared memory is asked for so generously that no two blocks share an SM.
constexpr int kTiles = 8;

__device__ std::uint64_t tensor_work(const __nv_bfloat16* tiles, float* out, int iterations,
                                     bool planted) {
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
  for (auto& sum : sums) wmma::fill_fragment(sum, 0.0f);
  for (int turn = 0; turn < iterations; ++turn) {
    wmma::load_matrix_sync(a, tiles + turn % kTiles * 256, 16);
#pragma unroll
    for (int at = 0; at < 4; ++at) {
      wmma::load_matrix_sync(b, tiles + (kTiles + (turn + at) % kTiles) * 256, 16);
      wmma::mma_sync(sums[at], a, b, sums[at]);
    }
  }
  const int lane = threadIdx.x % 32;
  std::uint64_t said = 0;
  for (int at = 0; at < 4; ++at) {
    wmma::store_matrix_sync(out, sums[at], 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32) {
      unsigned bits = __float_as_uint(out[i]);
      if (planted && at == 0 && i == 77) bits ^= 1;
      said += check_term(bits, at * 256 + i);
    }
    __syncwarp();
  }
  return sum_of_warp(said);
}

__device__ void plain_work(std::uint64_t seed, int iterations, std::uint64_t (&said)[3]) {
  const int lane = threadIdx.x % 32;
  float single[4];
  double twofold[4];
  std::uint64_t whole[4];
  for (int at = 0; at < 4; ++at) {
    single[at] = normal_at(seed, 4 * lane + at);
    twofold[at] = element_of<double>(seed, 4 * lane + at);
    whole[at] = random_at(seed, 4 * lane + at);
  }
  for (int turn = 0; turn < iterations; ++turn)
#pragma unroll
    for (int at = 0; at < 4; ++at) {
      single[at] = fmaf(single[at], 0.99951171875f, 0.3337f);
      if (turn % 4 == 0) twofold[at] = fma(twofold[at], 0.9995, 0.3337);
      whole[at] = whole[at] * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    }
  std::uint64_t sums[3] = {};
  for (int at = 0; at < 4; ++at) {
    sums[0] += check_term(__float_as_uint(single[at]), 4 * lane + at);
    sums[1] +=
        check_term(static_cast<std::uint64_t>(__double_as_longlong(twofold[at])), 4 * lane + at);
    sums[2] += check_term(whole[at], 4 * lane + at);
  }
  for (int unit = 0; unit < 3; ++unit) said[unit] = sum_of_warp(sums[unit]);
}

__global__ void __launch_bounds__(kSmWarps * 32)
    sm_kernel(std::uint64_t seed, int iterations, int planted, SmSaid* said) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto* tiles = reinterpret_cast<__nv_bfloat16*>(shared);
  auto* out = reinterpret_cast<float*>(tiles + 2 * kTiles * 256);
  for (int at = threadIdx.x; at < 2 * kTiles * 256; at += blockDim.x)
    tiles[at] = __nv_bfloat16(normal_at(seed, at));
  __syncthreads();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const int warp = threadIdx.x / 32;
  const auto tensor = tensor_work(tiles, out + warp * 256, iterations,
                                  static_cast<int>(sm) == planted && warp == 0);
  std::uint64_t plain[3];
  plain_work(seed, iterations, plain);
  if (threadIdx.x % 32 != 0) return;
  auto& mine = said[blockIdx.x];
  mine.sums[0][warp] = tensor;
  for (int unit = 0; unit < 3; ++unit) mine.sums[1 + unit][warp] = plain[unit];
  if (warp != 0) return;
  mine.sm = sm;
  mine.written = 1;
}

template <class T>
void fill(void* out, std::uint64_t count, std::uint64_t seed, cudaStream_t stream) {
  fill_kernel<<<2048, kThreads, 0, stream>>>(static_cast<T*>(out), count, seed);
}

template <class In, class Result>
void sample(const ProductShape& shape, const void* a, const void* b, const void* c,
            std::uint64_t seed, int samples, WrongSamples* found, cudaStream_t stream) {
  const double at_least = shape.tolerance(0);
  sample_kernel<In, Result><<<samples, kThreads, 0, stream>>>(
      shape, shape.tolerance(1) - at_least, at_least, static_cast<const In*>(a),
      static_cast<const In*>(b), static_cast<const Result*>(c), seed, found);
}

}  // namespace

void fill_normal(Type type, void* out, std::uint64_t count, std::uint64_t seed,
                 CUstream_st* stream) {
  switch (type) {
    case Type::kBf16:
      return fill<__nv_bfloat16>(out, count, seed, stream);
    case Type::kFp16:
      return fill<__half>(out, count, seed, stream);
    case Type::kTf32:
      return fill<float>(out, count, seed, stream);
    case Type::kFp8:
      return fill<__nv_fp8_e4m3>(out, count, seed, stream);
    case Type::kFp64:
      return fill<double>(out, count, seed, stream);
  }
}

void sum_chunks(const void* memory, std::uint64_t chunks, std::uint64_t* sums,
                CUstream_st* stream) {
  sum_kernel<<<static_cast<unsigned>(chunks), kThreads, 0, stream>>>(
      static_cast<const uint4*>(memory), sums);
}

void check_chunks(const void* memory, std::uint64_t chunks, const std::uint64_t* sums,
                  std::uint64_t product, WrongChunks* found, void* evidence, CUstream_st* stream) {
  check_kernel<<<static_cast<unsigned>(chunks), kThreads, 0, stream>>>(
      static_cast<const uint4*>(memory), sums, product, found, static_cast<uint4*>(evidence));
}

void check_samples(const ProductShape& shape, const void* a, const void* b, const void* c,
                   std::uint64_t seed, int samples, WrongSamples* found, CUstream_st* stream) {
  switch (shape.type) {
    case Type::kBf16:
      return sample<__nv_bfloat16, __nv_bfloat16>(shape, a, b, c, seed, samples, found, stream);
    case Type::kFp16:
      return sample<__half, __half>(shape, a, b, c, seed, samples, found, stream);
    case Type::kTf32:
      return sample<float, float>(shape, a, b, c, seed, samples, found, stream);
    case Type::kFp8:
      return sample<__nv_fp8_e4m3, __nv_bfloat16>(shape, a, b, c, seed, samples, found, stream);
    case Type::kFp64:
      return sample<double, double>(shape, a, b, c, seed, samples, found, stream);
  }
}

void flip_bit(void* memory, std::uint64_t bit, CUstream_st* stream) {
  flip_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned*>(memory), bit);
}

int allow_sm_product(int* shared_bytes) {
  int device = 0;
  int most = 0;
  if (const auto status = cudaGetDevice(&device); status != cudaSuccess) return status;
  if (const auto status =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
      status != cudaSuccess)
    return status;
  *shared_bytes = most;
  return cudaFuncSetAttribute(sm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

void sm_product(int blocks, int shared_bytes, std::uint64_t seed, int iterations, int planted,
                SmSaid* said, CUstream_st* stream) {
  sm_kernel<<<blocks, kSmWarps * 32, shared_bytes, stream>>>(seed, iterations, planted, said);
}

}  // namespace cupel::burn
