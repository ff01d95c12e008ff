#include "burnin/agent/burn/cuda/gemm_kernels.h"

#include "burnin/agent/burn/cuda/gemm_entries.h"
#include "burnin/agent/burn/cuda/launch.h"

namespace cupel::burn {
namespace {

constexpr unsigned kThreads = 256;

}  // namespace

void fill_normal(Type type, void* out, std::uint64_t count, std::uint64_t seed,
                 CUstream_st* stream) {
  CUPEL_LAUNCH(gemm_fill, 2048, kThreads, stream, type, out, count, seed);
}

void sum_chunks(const void* memory, std::uint64_t chunks, std::uint64_t* sums,
                CUstream_st* stream) {
  CUPEL_LAUNCH(gemm_sum, static_cast<unsigned>(chunks), kThreads, stream, memory, sums);
}

void check_chunks(const void* memory, std::uint64_t chunks, const std::uint64_t* sums,
                  std::uint64_t rotation, std::uint64_t product, WrongChunks* found, void* evidence,
                  CUstream_st* stream) {
  CUPEL_LAUNCH(gemm_check, static_cast<unsigned>(chunks), kThreads, stream, memory, sums, rotation,
               product, found, evidence);
}

void check_samples(const ProductShape& shape, const void* a, const void* b, const void* c,
                   std::uint64_t seed, int samples, WrongSamples* found, CUstream_st* stream) {
  const double at_least = shape.tolerance(0);
  CUPEL_LAUNCH(gemm_sample, static_cast<unsigned>(samples), kThreads, stream, shape,
               shape.tolerance(1) - at_least, at_least, a, b, c, seed, found);
}

void plant_errors(void* memory, std::uint64_t element_bytes, Planting planting,
                  CUstream_st* stream) {
  CUPEL_LAUNCH(gemm_plant, 1, 32, stream, memory, element_bytes, planting);
}

void flip_bit(void* memory, std::uint64_t bit, CUstream_st* stream) {
  CUPEL_LAUNCH(gemm_flip, 1, 1, stream, memory, bit);
}

}  // namespace cupel::burn
