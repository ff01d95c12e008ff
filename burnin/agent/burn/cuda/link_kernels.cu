#include "burnin/agent/burn/cuda/launch.h"
#include "burnin/agent/burn/cuda/link_kernels.h"

namespace cupel::burn {
namespace {

constexpr int kThreads = 256;
constexpr int kCopyThreads = 512;
constexpr int kUnroll = 4;  // independent 16-byte loads in flight before the first store

unsigned blocks_for(std::size_t items) {
  constexpr std::size_t kMost = 4096;
  const auto wanted = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted > kMost ? kMost : wanted);
}

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

__global__ void fill_words_kernel(std::uint64_t* memory, std::size_t words, std::uint64_t seed) {
  for (auto i = first_index(); i < words; i += stride()) memory[i] = pattern_word(seed, i);
}

__global__ void check_words_kernel(const std::uint64_t* memory, std::size_t words,
                                   std::uint64_t seed, Mismatches* found) {
  for (auto i = first_index(); i < words; i += stride()) {
    const auto got = memory[i];
    const auto want = pattern_word(seed, i);
    if (got != want) note(found, i, got, want);
  }
}

template <class Bits>
__global__ void fill_numbers_kernel(Bits* memory, Shape shape, std::uint64_t seed, int rank) {
  for (auto i = first_index(); i < shape.sent; i += stride())
    memory[i] = static_cast<Bits>(
        bits_of(shape.scalar, number_of(shape.scalar, seed, rank, shape.ranks, i)));
}

template <class Bits>
__global__ void check_numbers_kernel(const Bits* memory, Shape shape, std::uint64_t seed, int rank,
                                     int root, Mismatches* found) {
  for (auto i = first_index(); i < shape.received; i += stride()) {
    const std::uint32_t got = memory[i];
    const auto want = expected_bits(shape, seed, rank, root, i);
    if (got != want) note(found, i, got, want);
  }
}

__global__ void flip_bit_kernel(std::uint32_t* memory, std::uint64_t word, int bit) {
  memory[word] ^= 1U << bit;
}

__global__ void copy_kernel(uint4* to, const uint4* from, std::size_t items) {
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

__global__ void answer_kernel(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
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

__global__ void hold_kernel(const volatile std::uint64_t* gate) {
  constexpr std::uint64_t kPatience = 10'000'000'000;
  const auto since = nanoseconds();
  while (*gate == 0 && nanoseconds() - since < kPatience) {
  }
}

}  // namespace

void fill_words(std::uint64_t* memory, std::size_t words, std::uint64_t seed, cudaStream_t stream) {
  launch(fill_words_kernel, blocks_for(words), kThreads, stream, memory, words, seed);
}

void check_words(const std::uint64_t* memory, std::size_t words, std::uint64_t seed,
                 Mismatches* found, cudaStream_t stream) {
  launch(check_words_kernel, blocks_for(words), kThreads, stream, memory, words, seed, found);
}

void fill_numbers(void* memory, const Shape& shape, std::uint64_t seed, int rank,
                  cudaStream_t stream) {
  const auto blocks = blocks_for(shape.sent);
  if (bytes_of(shape.scalar) == 2)
    launch(fill_numbers_kernel<std::uint16_t>, blocks, kThreads, stream,
           static_cast<std::uint16_t*>(memory), shape, seed, rank);
  else
    launch(fill_numbers_kernel<std::uint32_t>, blocks, kThreads, stream,
           static_cast<std::uint32_t*>(memory), shape, seed, rank);
}

void check_numbers(const void* memory, const Shape& shape, std::uint64_t seed, int rank, int root,
                   Mismatches* found, cudaStream_t stream) {
  const auto blocks = blocks_for(shape.received);
  if (bytes_of(shape.scalar) == 2)
    launch(check_numbers_kernel<std::uint16_t>, blocks, kThreads, stream,
           static_cast<const std::uint16_t*>(memory), shape, seed, rank, root, found);
  else
    launch(check_numbers_kernel<std::uint32_t>, blocks, kThreads, stream,
           static_cast<const std::uint32_t*>(memory), shape, seed, rank, root, found);
}

void flip_bit(void* memory, std::uint64_t word, int bit, cudaStream_t stream) {
  launch(flip_bit_kernel, 1, 1, stream, static_cast<std::uint32_t*>(memory), word, bit);
}

void copy_by_sm(void* to, const void* from, std::size_t bytes, int blocks, cudaStream_t stream) {
  launch(copy_kernel, static_cast<unsigned>(blocks), kCopyThreads, stream, static_cast<uint4*>(to),
         static_cast<const uint4*>(from), bytes / sizeof(uint4));
}

void answer_host(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
                 std::uint64_t rounds, cudaStream_t stream) {
  launch(answer_kernel, 1, 1, stream, asked, answered, rounds);
}

void hold(const volatile std::uint64_t* gate, cudaStream_t stream) {
  launch(hold_kernel, 1, 1, stream, gate);
}

}  // namespace cupel::burn
