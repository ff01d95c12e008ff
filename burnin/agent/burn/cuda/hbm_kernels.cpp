#include "burnin/agent/burn/cuda/hbm_kernels.h"

#include "burnin/agent/burn/cuda/hbm_entries.h"
#include "burnin/agent/burn/cuda/launch.h"

namespace cupel::burn {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocks = 4096;

}  // namespace

void write_words(void* memory, std::uint64_t words, Written what, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_write, kBlocks, kThreads, stream, memory, words, what);
}

void check_words(const void* memory, std::uint64_t words, Written what, WrongWords* found,
                 CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_check, kBlocks, kThreads, stream, memory, words, what, found);
}

void invert_words(void* memory, std::uint64_t words, Written what, bool downwards,
                  WrongWords* found, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_invert, kBlocks, kThreads, stream, memory, words, what, downwards, found);
}

void hammer_words(const void* memory, std::uint64_t lines, std::uint64_t stride, int times,
                  std::uint64_t* sink, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_hammer, kBlocks, kThreads, stream, memory, lines, stride, times, sink);
}

void read_words(const void* memory, std::uint64_t words, std::uint64_t* sink, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_read, kBlocks, kThreads, stream, memory, words, sink);
}

void set_words(void* memory, std::uint64_t words, std::uint64_t value, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_set, kBlocks, kThreads, stream, memory, words, value);
}

void copy_words(void* to, const void* from, std::uint64_t words, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_copy, kBlocks, kThreads, stream, to, from, words);
}

void flip_word(void* memory, std::uint64_t position, std::uint64_t mask, CUstream_st* stream) {
  CUPEL_LAUNCH(hbm_flip, 1, 1, stream, memory, position, mask);
}

}  // namespace cupel::burn
