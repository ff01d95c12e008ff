#pragma once
// A CUDA status as an Outcome: TRY(cuda(cudaMalloc(&memory, bytes), "allocating C"));
#include <cuda_runtime_api.h>

#include <string_view>

#include "burnin/agent/burn/cuda_failure.h"

namespace cupel::burn {

inline Outcome<> cuda(cudaError_t status, std::string_view tried) {
  if (status == cudaSuccess) return done();
  return cuda_failure(static_cast<int>(status), cudaGetErrorName(status), tried);
}

/// After a kernel was launched.
inline Outcome<> launched(std::string_view kernel) { return cuda(cudaGetLastError(), kernel); }

}  // namespace cupel::burn
