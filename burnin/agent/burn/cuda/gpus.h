#pragma once
// The GPUs as the driver has them: their primary contexts, which cuBLASLt and NCCL use as well, and
// the kernels loaded on them. Used by runtime.cpp alone.
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/cuda/driver.h"

namespace cupel::burn {

/// A status of the driver as the runtime has it: the same number. It is kept for
/// cudaGetLastError().
cudaError_t kept(CUresult status);
cudaError_t kept(cudaError_t status);

class LoadedGpu {
 public:
  explicit LoadedGpu(CUdevice device) : device_{device} {}

  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }
  /// Once: its context, and all kernels, so that none has to wait for one that runs.
  CUresult start(const Driver& driver);
  /// CUDA_ERROR_NOT_FOUND where there is none of this name.
  CUresult function(const Driver& driver, std::string_view name, CUfunction* found);

 private:
  CUresult load(const Driver& driver);

  const CUdevice device_;
  CUcontext context_ = nullptr;
  std::vector<CUmodule> modules_;
  std::once_flag once_;
  CUresult started_ = CUDA_SUCCESS;
  std::mutex mutex_;
  std::map<std::string, CUfunction, std::less<>> functions_;
};

/// All of them, in the driver's order; started when they are first used.
class LoadedGpus {
 public:
  /// Errors: cudaErrorInsufficientDriver, or those of cuInit().
  static cudaError_t get(LoadedGpus*& all);

  const Driver& driver() const { return driver_; }
  int count() const { return static_cast<int>(gpus_.size()); }
  /// Nullptr: no such GPU.
  LoadedGpu* at(int ordinal);
  /// The calling thread's; the first where it has chosen none. Errors: cudaErrorInvalidDevice, what
  /// starting it gave.
  cudaError_t current(LoadedGpu*& gpu);
  cudaError_t choose(int ordinal);
  int chosen() const;

 private:
  explicit LoadedGpus(const Driver& driver) : driver_{driver} {}
  static cudaError_t open(LoadedGpus*& all);

  const Driver& driver_;
  std::vector<std::unique_ptr<LoadedGpu>> gpus_;
};

}  // namespace cupel::burn
