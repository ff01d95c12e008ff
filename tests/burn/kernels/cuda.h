#pragma once
// Runs kernels on the host, so that their indices, loops and barriers are tested without a GPU and
// under the sanitizers: a block's threads are fibers, which take turns at whatever they do together
// (a barrier, a shuffle). Blocks run one after another. No fence, no cache and no clock of a GPU is
// tested by it, and no tensor core. Included before a .cu file.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>

#include "tests/burn/kernels/grid.h"

#define CUPEL_CUDA_ON_HOST
#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __device__
#define __shared__ static  // one block at a time
#define __launch_bounds__(...)

namespace cupel::burn {

using on_host::blockDim;
using on_host::blockIdx;
using on_host::gridDim;
using on_host::threadIdx;

inline void __syncthreads() { on_host::meet(on_host::Meet::kBarrier, 0); }
inline int __syncthreads_or(int mine) {
  on_host::meet(on_host::Meet::kOr, static_cast<std::uint64_t>(mine));
  return on_host::any_word() ? 1 : 0;
}

template <class T>
T __shfl_xor_sync(unsigned, T mine, int lanes) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  on_host::meet(on_host::Meet::kShuffle, std::bit_cast<Bits>(mine));
  const auto other = threadIdx.x ^ static_cast<unsigned>(lanes);
  return std::bit_cast<T>(static_cast<Bits>(on_host::described_answer(other)));
}

template <class T, class More>
T atomicAdd(T* sum, More more) {
  const T before = *sum;
  *sum += static_cast<T>(more);
  return before;
}

inline void __threadfence_system() {}

// As in cuda/streamed.h.
template <class T>
T read_once(const T* from) {
  return *from;
}
template <class T>
T read_again(const T* from) {
  return *from;
}
template <class T>
void write_once(T* to, T value) {
  *to = value;
}

inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float __expf(float value) { return std::exp(value); }
inline float rsqrtf(float value) { return 1 / std::sqrt(value); }

}  // namespace cupel::burn
