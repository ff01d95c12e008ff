#pragma once
// The kernels of `hbm`: patterns written and checked, memory read, written and copied, rows read
// hot. `words` are of eight bytes, an even number of them, at an address that is a multiple of 16.
#include <cstdint>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/wrong_words.h"

struct CUstream_st;

namespace cupel::burn {

/// What stands in memory.
struct Written {
  Pattern pattern;
  std::uint64_t seed;
  std::uint64_t turn;
};

void write_words(void* memory, std::uint64_t words, Written what, CUstream_st* stream);
void check_words(const void* memory, std::uint64_t words, Written what, WrongWords* found,
                 CUstream_st* stream);
/// Each word is checked and at once overwritten with its complement, from below or from above.
void invert_words(void* memory, std::uint64_t words, Written what, bool downwards,
                  WrongWords* found, CUstream_st* stream);
/// Reads one word of each `stride` words, `lines` of them, `times` times over.
void hammer_words(const void* memory, std::uint64_t lines, std::uint64_t stride, int times,
                  std::uint64_t* sink, CUstream_st* stream);

void read_words(const void* memory, std::uint64_t words, std::uint64_t* sink, CUstream_st* stream);
void set_words(void* memory, std::uint64_t words, std::uint64_t value, CUstream_st* stream);
void copy_words(void* to, const void* from, std::uint64_t words, CUstream_st* stream);

void flip_word(void* memory, std::uint64_t position, std::uint64_t mask, CUstream_st* stream);

}  // namespace cupel::burn
