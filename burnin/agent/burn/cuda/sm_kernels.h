#pragma once
// The small work that every SM does alike, so that the odd one stands out.
#include <cstdint>

#include "burnin/agent/burn/sm_said.h"

struct CUstream_st;

namespace cupel::burn {

/// `blocks` blocks, one at a time on an SM, each with the same work. `planted`: the SM whose warp 0
/// gets a single-bit error in a result of its tensor cores; -1: none. Shared memory must have been
/// allowed for once per device by allow_sm_product(), which returns a cudaError_t.
int allow_sm_product(int* shared_bytes);
void sm_product(int blocks, int shared_bytes, std::uint64_t seed, int iterations, int planted,
                SmReport* results, CUstream_st* stream);

}  // namespace cupel::burn
