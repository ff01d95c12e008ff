#pragma once
// The kernel of sm_kernels.cu, by the name by which it is launched.
#include <cstdint>

#include "burnin/agent/burn/cuda/kernel.h"
#include "burnin/agent/burn/sm_said.h"

namespace cupel::burn {

CUPEL_KERNEL sm_product_kernel(std::uint64_t seed, int iterations, int planted, SmReport* results);

}  // namespace cupel::burn
