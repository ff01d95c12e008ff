#pragma once
// A CUDA status as an Outcome: TRY(cuda(cudaMalloc(&memory, bytes), "allocating C"));
#include <cuda_runtime_api.h>

#include <string_view>

#include "burnin/agent/burn/cuda_failure.h"

namespace cupel::burn {

// What cuda_failure() knows by number.
static_assert(cudaErrorMemoryAllocation == 2 && cudaErrorInitializationError == 3);
static_assert(cudaErrorInsufficientDriver == 35 && cudaErrorDevicesUnavailable == 46);
static_assert(cudaErrorNoDevice == 100 && cudaErrorInvalidDevice == 101);
static_assert(cudaErrorECCUncorrectable == 214 && cudaErrorNvlinkUncorrectable == 220);
static_assert(cudaErrorIllegalAddress == 700 && cudaErrorHardwareStackError == 714);
static_assert(cudaErrorIllegalInstruction == 715 && cudaErrorLaunchFailure == 719);
static_assert(cudaErrorSystemNotReady == 802 && cudaErrorSystemDriverMismatch == 803);
#if CUDART_VERSION >= 13000
static_assert(cudaErrorContained == 226);
#endif

inline Outcome<> cuda(cudaError_t status, std::string_view tried) {
  if (status == cudaSuccess) return done();
  return cuda_failure(static_cast<int>(status), cudaGetErrorName(status), tried);
}

/// After a kernel was launched.
inline Outcome<> launched(std::string_view kernel) { return cuda(cudaGetLastError(), kernel); }

}  // namespace cupel::burn
