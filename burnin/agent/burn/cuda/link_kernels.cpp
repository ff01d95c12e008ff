#include "burnin/agent/burn/cuda/link_kernels.h"

#include "burnin/agent/burn/cuda/launch.h"
#include "burnin/agent/burn/cuda/link_entries.h"

namespace cupel::burn {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kCopyThreads = 512;

unsigned blocks_for(std::size_t items) {
  constexpr std::size_t kMost = 4096;
  const auto requested = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(requested < 1 ? 1 : requested > kMost ? kMost : requested);
}

}  // namespace

void fill_words(std::uint64_t* memory, std::size_t words, std::uint64_t seed, CUstream_st* stream) {
  CUPEL_LAUNCH(link_fill_words, blocks_for(words), kThreads, stream, memory, words, seed);
}

void check_words(const std::uint64_t* memory, std::size_t words, std::uint64_t seed,
                 Mismatches* found, CUstream_st* stream) {
  CUPEL_LAUNCH(link_check_words, blocks_for(words), kThreads, stream, memory, words, seed, found);
}

void fill_numbers(void* memory, const Shape& shape, std::uint64_t seed, int rank,
                  CUstream_st* stream) {
  CUPEL_LAUNCH(link_fill_numbers, blocks_for(shape.sent), kThreads, stream, memory, shape, seed,
               rank);
}

void check_numbers(const void* memory, const Shape& shape, std::uint64_t seed, int rank, int root,
                   Mismatches* found, CUstream_st* stream) {
  CUPEL_LAUNCH(link_check_numbers, blocks_for(shape.received), kThreads, stream, memory, shape,
               seed, rank, root, found);
}

void flip_bit(void* memory, std::uint64_t word, int bit, CUstream_st* stream) {
  CUPEL_LAUNCH(link_flip, 1, 1, stream, static_cast<std::uint32_t*>(memory), word, bit);
}

void copy_by_sm(void* to, const void* from, std::size_t bytes, int blocks, CUstream_st* stream) {
  CUPEL_LAUNCH(link_copy, static_cast<unsigned>(blocks), kCopyThreads, stream, to, from,
               bytes / 16);
}

void answer_host(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
                 std::uint64_t rounds, CUstream_st* stream) {
  CUPEL_LAUNCH(link_answer, 1, 1, stream, asked, answered, rounds);
}

void hold(const volatile std::uint64_t* gate, CUstream_st* stream) {
  CUPEL_LAUNCH(link_hold, 1, 1, stream, gate);
}

}  // namespace cupel::burn
