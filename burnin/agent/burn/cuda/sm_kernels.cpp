#include "burnin/agent/burn/cuda/sm_kernels.h"

#include <cuda_runtime_api.h>

#include "burnin/agent/burn/cuda/launch.h"
#include "burnin/agent/burn/cuda/sm_entries.h"

namespace cupel::burn {

int allow_sm_product(int* shared_bytes) {
  int device = 0;
  int most = 0;
  if (const auto status = cudaGetDevice(&device); status != cudaSuccess) return status;
  if (const auto status =
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
      status != cudaSuccess)
    return status;
  *shared_bytes = most;
  return allow_shared_memory("sm_product_kernel", most);
}

void sm_product(int blocks, int shared_bytes, std::uint64_t seed, int iterations, int planted,
                SmReport* results, CUstream_st* stream) {
  launch_as(std::type_identity<decltype(sm_product_kernel)>{}, "sm_product_kernel",
            {.blocks = static_cast<unsigned>(blocks),
             .threads = kSmWarps * 32,
             .shared = static_cast<unsigned>(shared_bytes)},
            stream, seed, iterations, planted, results);
}

}  // namespace cupel::burn
