// Device code of the work that every SM does alike: tensor cores, fp32, fp64 and whole numbers.
#include <cuda_bf16.h>
#include <mma.h>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/sm_entries.h"

namespace cupel::burn {
namespace {

/// With all of its mantissa in use.
__device__ double double_at(std::uint64_t seed, std::uint64_t at) {
  return normal_at(seed, at) + static_cast<double>(random_at(~seed, at) >> 11) * 0x1p-77;
}

__device__ std::uint64_t sum_of_warp(std::uint64_t sum) {
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  return sum;
}

// What every SM does. Shared memory is asked for so generously that no two blocks share an SM. Each
// result is folded into a checksum before later ones could round its errors away.
constexpr int kTiles = 8;
constexpr int kTurnsKept = 64;  // of tensor cores: then their sums begin again from zero

__device__ std::uint64_t tensor_work(const __nv_bfloat16* tiles, int iterations, bool planted) {
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
  const int lane = threadIdx.x % 32;
  std::uint64_t fold = 0;
  for (int turn = 0; turn < iterations; ++turn) {
    if (turn % kTurnsKept == 0)
#pragma unroll
      for (int at = 0; at < 4; ++at) wmma::fill_fragment(sums[at], 0.0f);
    wmma::load_matrix_sync(a, tiles + turn % kTiles * 256, 16);
#pragma unroll
    for (int at = 0; at < 4; ++at) {
      wmma::load_matrix_sync(b, tiles + (kTiles + (turn + at) % kTiles) * 256, 16);
      wmma::mma_sync(sums[at], a, b, sums[at]);
    }
    const bool is_last = turn + 1 == iterations;
    if ((turn + 1) % kTurnsKept != 0 && !is_last) continue;
    // Which element of C a lane holds at `i` is the chip's own affair, and the same on each SM.
#pragma unroll
    for (int at = 0; at < 4; ++at)
#pragma unroll
      for (int i = 0; i < sums[at].num_elements; ++i) {
        unsigned bits = __float_as_uint(sums[at].x[i]);
        if (planted && is_last && lane == 13 && at == 0 && i == 2) bits ^= 1;
        fold = folded(fold, std::uint64_t{bits});
      }
  }
  return sum_of_warp(check_term(fold, lane));
}

__device__ void plain_work(std::uint64_t seed, int iterations, std::uint64_t (&sums)[3]) {
  const int lane = threadIdx.x % 32;
  float single[4];
  double twofold[4];
  std::uint64_t whole[4];
  std::uint32_t of_single = 0;
  std::uint64_t of_twofold = 0;
  for (int at = 0; at < 4; ++at) {
    single[at] = within_map(normal_at(seed, 4 * lane + at));
    twofold[at] = within_map(double_at(seed, 4 * lane + at));
    whole[at] = random_at(seed, 4 * lane + at);
  }
  for (int turn = 0; turn < iterations; ++turn)
#pragma unroll
    for (int at = 0; at < 4; ++at) {
      single[at] = stretched(single[at]);
      of_single = folded(of_single, __float_as_uint(single[at]));
      if (turn % 4 == 0) {
        twofold[at] = stretched(twofold[at]);
        of_twofold =
            folded(of_twofold, static_cast<std::uint64_t>(__double_as_longlong(twofold[at])));
      }
      whole[at] = whole[at] * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    }
  std::uint64_t of_whole = 0;
  for (int at = 0; at < 4; ++at) of_whole = folded(of_whole, whole[at]);
  sums[0] = sum_of_warp(check_term(of_single, lane));
  sums[1] = sum_of_warp(check_term(of_twofold, lane));
  sums[2] = sum_of_warp(check_term(of_whole, lane));
}

}  // namespace

CUPEL_KERNEL __launch_bounds__(kSmWarps * 32)
    sm_product_kernel(std::uint64_t seed, int iterations, int planted, SmReport* sums) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto* tiles = reinterpret_cast<__nv_bfloat16*>(shared);
  for (int at = threadIdx.x; at < 2 * kTiles * 256; at += blockDim.x)
    tiles[at] = __nv_bfloat16(normal_at(seed, at));
  __syncthreads();
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const int warp = threadIdx.x / 32;
  const auto tensor = tensor_work(tiles, iterations, static_cast<int>(sm) == planted && warp == 0);
  std::uint64_t plain[3];
  plain_work(seed, iterations, plain);
  if (threadIdx.x % 32 != 0) return;
  auto& mine = sums[blockIdx.x];
  mine.sums[0][warp] = tensor;
  for (int unit = 0; unit < 3; ++unit) mine.sums[1 + unit][warp] = plain[unit];
  if (warp != 0) return;
  mine.sm = sm;
  mine.written = 1;
}

}  // namespace cupel::burn
