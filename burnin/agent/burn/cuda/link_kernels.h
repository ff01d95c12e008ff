#pragma once
// What the GPU does for the tests of links: makes data, checks them, moves them by its own loads
// and stores, answers the host. Each call only queues; the current device must be the stream's.
#include <cstddef>
#include <cstdint>

#include "burnin/agent/burn/links/mismatch.h"
#include "burnin/agent/burn/links/operation.h"

struct CUstream_st;

namespace cupel::burn {

/// pattern_word(seed, 0), pattern_word(seed, 1) ...
void fill_words(std::uint64_t* memory, std::size_t words, std::uint64_t seed, CUstream_st* stream);

/// Counts into `found` (memory of the GPU) what is not pattern_word(seed, its index).
void check_words(const std::uint64_t* memory, std::size_t words, std::uint64_t seed,
                 Mismatches* found, CUstream_st* stream);

/// A rank's send buffer of `shape`.
void fill_numbers(void* memory, const Shape& shape, std::uint64_t seed, int rank,
                  CUstream_st* stream);

/// Counts into `found` what is not expected_bits() in a rank's receive buffer: bits against bits,
/// so that NaN is no exception.
void check_numbers(const void* memory, const Shape& shape, std::uint64_t seed, int rank, int root,
                   Mismatches* found, CUstream_st* stream);

/// Turns over one bit of one 32-bit word.
void flip_bit(void* memory, std::uint64_t word, int bit, CUstream_st* stream);

/// From the one to the other by loads and stores of 16 bytes; either may be a peer's. `bytes` is a
/// multiple of 16. `blocks`: thread blocks of 512; two for each SM keep a link busy.
void copy_by_sm(void* to, const void* from, std::size_t bytes, int blocks, CUstream_st* stream);

/// What the host writes into `asked` (1, 2, ... rounds) the GPU writes into `answered` at once;
/// both lie in pinned memory of the host. Ends by itself when it hears nothing for five seconds.
void answer_host(const volatile std::uint64_t* asked, volatile std::uint64_t* answered,
                 std::uint64_t rounds, CUstream_st* stream);

/// Keeps the stream until the host writes something other than 0, or ten seconds.
void hold(const volatile std::uint64_t* gate, CUstream_st* stream);

}  // namespace cupel::burn
