// Device code of the tests of links.
#include "burnin/agent/burn/cuda/link_entries.h"
#include "burnin/agent/burn/links/pattern.h"

namespace cupel::burn {
namespace {

constexpr int kUnroll = 4;  // independent 16-byte loads in flight before the first store

__device__ void note(Mismatches* found, std::uint64_t index, std::uint64_t got,
                     std::uint64_t want) {
  const auto at = atomicAdd(&found->count, 1ULL);
  if (at >= Mismatches::kShown) return;
  found->index[at] = index;
  found->got[at] = got;
  found->want[at] = want;
}

__device__ std::uint64_t nanoseconds() {
#ifdef CUPEL_CUDA_ON_HOST
  return on_host::nanoseconds();
#else
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

__device__ std::size_t first_index() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}

__device__ std::size_t stride() { return gridDim.x * static_cast<std::size_t>(blockDim.x); }

template <class Bits>
__device__ void fill(Bits* memory, const Shape& shape, std::uint64_t seed, int rank) {
  for (auto i = first_index(); i < shape.sent; i += stride())
    memory[i] = static_cast<Bits>(
        bits_of(shape.scalar, number_of(shape.scalar, seed, rank, shape.ranks, i)));
}

template <class Bits>
__device__ void check(const Bits* memory, const Shape& shape, std::uint64_t seed, int rank,
                      int root, Mismatches* found) {
  for (auto i = first_index(); i < shape.received; i += stride()) {
    const std::uint32_t got = memory[i];
    const auto want = expected_bits(shape, seed, rank, root, i);
    if (got != want) note(found, i, got, want);
  }
}

}  // namespace

CUPEL_KERNEL link_fill_words(std::uint64_t* memory, std::size_t words, std::uint64_t seed) {
  for (auto i = first_index(); i < words; i += stride()) memory[i] = pattern_word(seed, i);
}

CUPEL_KERNEL link_check_words(const std::uint64_t* memory, std::size_t words, std::uint64_t seed,
                              Mismatches* found) {
  for (auto i = first_index(); i < words; i += stride()) {
    const auto got = memory[i];
    const auto want = pattern_word(seed, i);
    if (got != want) note(found, i, got, want);
  }
}

CUPEL_KERNEL link_fill_numbers(void* memory, Shape shape, std::uint64_t seed, int rank) {
  if (bytes_of(shape.scalar) == 2)
    fill(static_cast<std::uint16_t*>(memory), shape, seed, rank);
  else
    fill(static_cast<std::uint32_t*>(memory), shape, seed, rank);
}

CUPEL_KERNEL link_check_numbers(const void* memory, Shape shape, std::uint64_t seed, int rank,
                                int root, Mismatches* found) {
  if (bytes_of(shape.scalar) == 2)
    check(static_cast<const std::uint16_t*>(memory), shape, seed, rank, root, found);
  else
    check(static_cast<const std::uint32_t*>(memory), shape, seed, rank, root, found);
}

CUPEL_KERNEL link_flip(std::uint32_t* memory, std::uint64_t word, int bit) {
  memory[word] ^= 1U << bit;
}

CUPEL_KERNEL link_copy(void* to_, const void* from_, std::size_t items) {
  auto* to = static_cast<uint4*>(to_);
  const auto* from = static_cast<const uint4*>(from_);
  const auto step = stride();
  auto i = first_index();
  for (; i + (kUnroll - 1) * step < items; i += kUnroll * step) {
    uint4 held[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) held[k] = from[i + k * step];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) to[i + k * step] = held[k];
  }
  for (; i < items; i += step) to[i] = from[i];
}

CUPEL_KERNEL link_answer(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
                         std::uint64_t rounds) {
  constexpr std::uint64_t kPatience = 5'000'000'000;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const auto since = nanoseconds();
    while (*asked < round)
      if (nanoseconds() - since > kPatience) return;
    *answered = round;
    __threadfence_system();
  }
}

CUPEL_KERNEL link_hold(const volatile std::uint64_t* gate) {
  constexpr std::uint64_t kPatience = 10'000'000'000;
  const auto since = nanoseconds();
  while (*gate == 0 && nanoseconds() - since < kPatience) {
  }
}

}  // namespace cupel::burn
