#pragma once
// The kernels around the matrix products: operands, checksums, samples, planted errors. Launched on
// `stream`; ask launched() after.
#include <cstdint>

#include "burnin/agent/burn/checked.h"
#include "burnin/agent/burn/planting.h"
#include "burnin/agent/burn/shapes.h"

struct CUstream_st;

namespace cupel::burn {

/// Normal numbers of the type; those of tf32 are tf32's own, so that nothing is rounded later.
void fill_normal(Type type, void* out, std::uint64_t count, std::uint64_t seed,
                 CUstream_st* stream);

/// The checksum of each chunk of `memory`.
void sum_chunks(const void* memory, std::uint64_t chunks, std::uint64_t* sums, CUstream_st* stream);

/// Compares each chunk's checksum with `sums`: chunk c with that of (c + rotation) % chunks. What
/// differs is written down in `found` as the latter, the first kMostEvidence chunks with their
/// bytes as they are read again, to `evidence`.
void check_chunks(const void* memory, std::uint64_t chunks, const std::uint64_t* sums,
                  std::uint64_t rotation, std::uint64_t product, WrongChunks* found, void* evidence,
                  CUstream_st* stream);

/// Compares `samples` elements of C, chosen by `seed`, with plain sums in fp64 outside of the
/// tensor cores.
void check_samples(const ProductShape& shape, const void* a, const void* b, const void* c,
                   std::uint64_t seed, int samples, WrongSamples* found, CUstream_st* stream);

/// Plants errors in elements of so many bytes: 2, 4 or 8.
void plant_errors(void* memory, std::uint64_t element_bytes, Planting planting,
                  CUstream_st* stream);

/// Flips one bit.
void flip_bit(void* memory, std::uint64_t bit, CUstream_st* stream);

}  // namespace cupel::burn
