// Device code of `hbm`. What stands where is in arithmetic.h, which the host's tests share.
#include <cuda_runtime.h>

#include <type_traits>

#include "burnin/agent/burn/cuda/hbm_entries.h"
#include "burnin/agent/burn/cuda/streamed.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;
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
__device__ void write(ulonglong2* memory, std::uint64_t pairs, const Written& what) {
  for (auto at = first_pair(); at < pairs; at += step())
    write_once(&memory[at],
               ulonglong2{word_at<kPattern>(what, 2 * at), word_at<kPattern>(what, 2 * at + 1)});
}

template <Pattern kPattern>
__device__ void check(const ulonglong2* memory, std::uint64_t pairs, const Written& what,
                      WrongWords* found) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory);
  for (auto at = first_pair(); at < pairs; at += kDeep * step()) {
    ulonglong2 is[kDeep];
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < pairs) is[deep] = read_once(&memory[at + deep * step()]);
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
__device__ void invert(ulonglong2* memory, std::uint64_t pairs, const Written& what, bool downwards,
                       WrongWords* found) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory);
  for (auto turn = first_pair(); turn < pairs; turn += step()) {
    const auto at = downwards ? pairs - 1 - turn : turn;
    const auto is = read_once(&memory[at]);
    const auto low = word_at<kPattern>(what, 2 * at);
    const auto high = word_at<kPattern>(what, 2 * at + 1);
    if (is.x != low) note(words, 2 * at, low, is.x, found);
    if (is.y != high) note(words, 2 * at + 1, high, is.y, found);
    write_once(&memory[at], ulonglong2{~low, ~high});
  }
}

/// Calls `work` with the pattern as a constant's type.
template <class Work>
__device__ void by_pattern(Pattern pattern, const Work& work) {
  switch (pattern) {
    case Pattern::kAddress:
      return work(std::integral_constant<Pattern, Pattern::kAddress>{});
    case Pattern::kAddressNot:
      return work(std::integral_constant<Pattern, Pattern::kAddressNot>{});
    case Pattern::kWalkingOnes:
      return work(std::integral_constant<Pattern, Pattern::kWalkingOnes>{});
    case Pattern::kWalkingZeros:
      return work(std::integral_constant<Pattern, Pattern::kWalkingZeros>{});
    case Pattern::kRandom:
      return work(std::integral_constant<Pattern, Pattern::kRandom>{});
    case Pattern::kRandomNot:
      return work(std::integral_constant<Pattern, Pattern::kRandomNot>{});
  }
}

}  // namespace

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_write(void* memory, std::uint64_t words, Written what) {
  by_pattern(what.pattern, [&](auto pattern) {
    write<decltype(pattern)::value>(static_cast<ulonglong2*>(memory), words / 2, what);
  });
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_check(const void* memory, std::uint64_t words, Written what, WrongWords* found) {
  by_pattern(what.pattern, [&](auto pattern) {
    check<decltype(pattern)::value>(static_cast<const ulonglong2*>(memory), words / 2, what, found);
  });
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_invert(void* memory, std::uint64_t words, Written what, bool downwards, WrongWords* found) {
  by_pattern(what.pattern, [&](auto pattern) {
    invert<decltype(pattern)::value>(static_cast<ulonglong2*>(memory), words / 2, what, downwards,
                                     found);
  });
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_hammer(const void* memory, std::uint64_t lines, std::uint64_t stride, int times,
               std::uint64_t* sink) {
  const auto* words = static_cast<const volatile std::uint64_t*>(memory);
  std::uint64_t sum = 0;
  for (int time = 0; time < times; ++time)
    for (auto line = first_pair(); line < lines; line += step()) sum += words[line * stride];
  if (sum == 0x5bd1e995) *sink = sum;  // so that the reads are not left out
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_read(const void* memory, std::uint64_t words, std::uint64_t* sink) {
  const auto* from = static_cast<const uint4*>(memory);
  const auto vectors = words / 2;
  unsigned sum = 0;
  for (auto at = first_pair(); at < vectors; at += kDeep * step()) {
    uint4 is[kDeep] = {};
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) is[deep] = read_once(&from[at + deep * step()]);
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      sum ^= is[deep].x ^ is[deep].y ^ is[deep].z ^ is[deep].w;
  }
  if (sum == 0x5bd1e995) *sink = sum;
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_set(void* memory, std::uint64_t words, std::uint64_t value) {
  auto* to = static_cast<ulonglong2*>(memory);
  for (auto at = first_pair(); at < words / 2; at += step())
    write_once(&to[at], ulonglong2{value, value});
}

CUPEL_KERNEL __launch_bounds__(kThreads)
    hbm_copy(void* to_, const void* from_, std::uint64_t words) {
  auto* to = static_cast<uint4*>(to_);
  const auto* from = static_cast<const uint4*>(from_);
  const auto vectors = words / 2;
  for (auto at = first_pair(); at < vectors; at += kDeep * step()) {
    uint4 is[kDeep];
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) is[deep] = read_once(&from[at + deep * step()]);
#pragma unroll
    for (int deep = 0; deep < kDeep; ++deep)
      if (at + deep * step() < vectors) write_once(&to[at + deep * step()], is[deep]);
  }
}

CUPEL_KERNEL hbm_flip(void* memory, std::uint64_t position, std::uint64_t mask) {
  static_cast<std::uint64_t*>(memory)[position] ^= mask;
}

}  // namespace cupel::burn
