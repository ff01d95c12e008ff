// Device code of `hbm`. What stands where is in arithmetic.h, which the host's tests share.
#include <cuda_runtime.h>

#include <type_traits>

#include "burnin/agent/burn/cuda/hbm_kernels.h"
#include "burnin/agent/burn/cuda/launch.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4096;
constexpr int kDeep = 4;  // loads of 16 bytes that a thread has under way

/// The pattern is known when a kernel is compiled: a choice for each word would cost as much as the
/// word.
template <Pattern kPattern>
__device__ std::uint64_t word_at(const Written& what, std::uint64_t position) {
  return pattern_at(kPattern, what.seed, what.turn, position);
}

__device__ void note(const std::uint64_t* memory, std::uint64_t position, std::uint64_t expected,
                     std::uint64_t actual, WrongWords* found) {
  const unsigned long long slot = atomicAdd(&found->count, 1ull);
  if (slot >= kMostWords) return;
  const auto again = *reinterpret_cast<const volatile std::uint64_t*>(&memory[position]);
  found->list[slot] = {position, expected, actual, again};
}

__device__ std::uint64_t first_pair() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t step() { return std::uint64_t{gridDim.x} * blockDim.x; }

template <Pattern kPattern>
__global__ void __launch_bounds__(kThreads)
    write_kernel(ulonglong2* memory, std::uint64_t pairs, Written what) {
  for (auto at = first_pair(); at < pairs; at += step())
    __stcs(&memory[at],
           ulonglong2{word_at<kPattern>(what, 2 * at), word_at<kPattern>(what, 2 * at + 1)});
}

template <Pattern kPattern>
__global__ void __launch_bounds__(kThreads)
    check_kernel(const ulonglong2* memory, std::uint64_t pairs, Written what, WrongWords* found) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory);
  for (auto at = first_pair(); at < pairs; at += kDeep * step()) {
    ulonglong2 is[kDeep];
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < pairs) is[deep] = __ldcs(&memory[at + deep * step()]);
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep) {
      const auto pair = at + deep * step();
      if (pair >= pairs) continue;
      const auto low = word_at<kPattern>(what, 2 * pair);
      const auto high = word_at<kPattern>(what, 2 * pair + 1);
      if (is[deep].x != low) note(words, 2 * pair, low, is[deep].x, found);
      if (is[deep].y != high) note(words, 2 * pair + 1, high, is[deep].y, found);
    }
  }
}

template <Pattern kPattern>
__global__ void __launch_bounds__(kThreads)
    invert_kernel(ulonglong2* memory, std::uint64_t pairs, Written what, bool downwards,
                  WrongWords* found) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory);
  for (auto turn = first_pair(); turn < pairs; turn += step()) {
    const auto at = downwards ? pairs - 1 - turn : turn;
    const auto is = __ldcs(&memory[at]);
    const auto low = word_at<kPattern>(what, 2 * at);
    const auto high = word_at<kPattern>(what, 2 * at + 1);
    if (is.x != low) note(words, 2 * at, low, is.x, found);
    if (is.y != high) note(words, 2 * at + 1, high, is.y, found);
    __stcs(&memory[at], ulonglong2{~low, ~high});
  }
}

__global__ void __launch_bounds__(kThreads)
    hammer_kernel(const std::uint64_t* memory, std::uint64_t lines, std::uint64_t stride, int times,
                  std::uint64_t* sink) {
  std::uint64_t sum = 0;
  for (int time = 0; time < times; ++time)
    for (auto line = first_pair(); line < lines; line += step())
      sum += *reinterpret_cast<const volatile std::uint64_t*>(&memory[line * stride]);
  if (sum == 0x5bd1e995) *sink = sum;  // so that the reads are not left out
}

__global__ void __launch_bounds__(kThreads)
    read_kernel(const uint4* memory, std::uint64_t vectors, std::uint64_t* sink) {
  unsigned sum = 0;
  for (auto at = first_pair(); at < vectors; at += kDeep * step()) {
    uint4 is[kDeep] = {};
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) is[deep] = __ldcs(&memory[at + deep * step()]);
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      sum ^= is[deep].x ^ is[deep].y ^ is[deep].z ^ is[deep].w;
  }
  if (sum == 0x5bd1e995) *sink = sum;
}

__global__ void __launch_bounds__(kThreads)
    set_kernel(ulonglong2* memory, std::uint64_t pairs, std::uint64_t value) {
  for (auto at = first_pair(); at < pairs; at += step())
    __stcs(&memory[at], ulonglong2{value, value});
}

__global__ void __launch_bounds__(kThreads)
    copy_kernel(uint4* to, const uint4* from, std::uint64_t vectors) {
  for (auto at = first_pair(); at < vectors; at += kDeep * step()) {
    uint4 is[kDeep];
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) is[deep] = __ldcs(&from[at + deep * step()]);
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) __stcs(&to[at + deep * step()], is[deep]);
  }
}

__global__ void flip_kernel(std::uint64_t* memory, std::uint64_t position, std::uint64_t mask) {
  memory[position] ^= mask;
}

}  // namespace

namespace {

/// Calls `launches` with the pattern as a constant's type.
template <class Launches>
void by_pattern(Pattern pattern, const Launches& launches) {
  switch (pattern) {
    case Pattern::kAddress:
      return launches(std::integral_constant<Pattern, Pattern::kAddress>{});
    case Pattern::kAddressNot:
      return launches(std::integral_constant<Pattern, Pattern::kAddressNot>{});
    case Pattern::kWalkingOnes:
      return launches(std::integral_constant<Pattern, Pattern::kWalkingOnes>{});
    case Pattern::kWalkingZeros:
      return launches(std::integral_constant<Pattern, Pattern::kWalkingZeros>{});
    case Pattern::kRandom:
      return launches(std::integral_constant<Pattern, Pattern::kRandom>{});
    case Pattern::kRandomNot:
      return launches(std::integral_constant<Pattern, Pattern::kRandomNot>{});
  }
}

}  // namespace

void write_words(void* memory, std::uint64_t words, Written what, CUstream_st* stream) {
  by_pattern(what.pattern, [&](auto pattern) {
    launch(write_kernel<decltype(pattern)::value>, kBlocks, kThreads, stream,
           static_cast<ulonglong2*>(memory), words / 2, what);
  });
}

void check_words(const void* memory, std::uint64_t words, Written what, WrongWords* found,
                 CUstream_st* stream) {
  by_pattern(what.pattern, [&](auto pattern) {
    launch(check_kernel<decltype(pattern)::value>, kBlocks, kThreads, stream,
           static_cast<const ulonglong2*>(memory), words / 2, what, found);
  });
}

void invert_words(void* memory, std::uint64_t words, Written what, bool downwards,
                  WrongWords* found, CUstream_st* stream) {
  by_pattern(what.pattern, [&](auto pattern) {
    launch(invert_kernel<decltype(pattern)::value>, kBlocks, kThreads, stream,
           static_cast<ulonglong2*>(memory), words / 2, what, downwards, found);
  });
}

void hammer_words(const void* memory, std::uint64_t lines, std::uint64_t stride, int times,
                  std::uint64_t* sink, CUstream_st* stream) {
  launch(hammer_kernel, kBlocks, kThreads, stream, static_cast<const std::uint64_t*>(memory), lines,
         stride, times, sink);
}

void read_words(const void* memory, std::uint64_t words, std::uint64_t* sink, CUstream_st* stream) {
  launch(read_kernel, kBlocks, kThreads, stream, static_cast<const uint4*>(memory), words / 2,
         sink);
}

void set_words(void* memory, std::uint64_t words, std::uint64_t value, CUstream_st* stream) {
  launch(set_kernel, kBlocks, kThreads, stream, static_cast<ulonglong2*>(memory), words / 2, value);
}

void copy_words(void* to, const void* from, std::uint64_t words, CUstream_st* stream) {
  launch(copy_kernel, kBlocks, kThreads, stream, static_cast<uint4*>(to),
         static_cast<const uint4*>(from), words / 2);
}

void flip_word(void* memory, std::uint64_t position, std::uint64_t mask, CUstream_st* stream) {
  launch(flip_kernel, 1, 1, stream, static_cast<std::uint64_t*>(memory), position, mask);
}

}  // namespace cupel::burn
