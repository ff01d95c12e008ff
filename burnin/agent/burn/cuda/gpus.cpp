#include "burnin/agent/burn/cuda/gpus.h"

#include <optional>
#include <utility>

#include "burnin/agent/burn/cuda/images.h"
#include "burnin/agent/burn/cuda/launch.h"

namespace cupel::burn {
namespace {

thread_local cudaError_t last = cudaSuccess;
thread_local std::optional<int> chosen_gpu;

/// Machine code runs on drivers of its own major version and later.
/// Source: CUDA Compatibility, "Minor Version Compatibility".
bool takes_machine_code(const Driver& driver) {
  int version = 0;
  return driver.version(&version) == CUDA_SUCCESS && version / 1000 >= CUDA_VERSION / 1000;
}

}  // namespace

cudaError_t kept(cudaError_t status) {
  if (status != cudaSuccess) last = status;
  return status;
}

cudaError_t kept(CUresult status) { return kept(static_cast<cudaError_t>(status)); }

CUresult LoadedGpu::load(const Driver& driver) {
  const bool takes = takes_machine_code(driver);
  for (const auto& image : images()) {
    CUmodule module = nullptr;
    auto status = takes ? driver.module_load(&module, image.machine_code) : CUDA_ERROR_NOT_FOUND;
    if (status != CUDA_SUCCESS) status = driver.module_load(&module, image.ptx);
    if (status != CUDA_SUCCESS) return status;
    modules_.push_back(module);
  }
  return CUDA_SUCCESS;
}

CUresult LoadedGpu::start(const Driver& driver) {
  std::call_once(once_, [&] {
    started_ = driver.primary_context(&context_, device_);
    if (started_ == CUDA_SUCCESS) started_ = driver.set_context(context_);
    if (started_ == CUDA_SUCCESS) started_ = load(driver);
  });
  return started_;
}

CUresult LoadedGpu::function(const Driver& driver, std::string_view name, CUfunction* found) {
  const std::scoped_lock lock{mutex_};
  if (const auto known = functions_.find(name); known != functions_.end()) {
    *found = known->second;
    return CUDA_SUCCESS;
  }
  const std::string text{name};
  auto status = CUDA_ERROR_NOT_FOUND;
  for (auto* const module : modules_) {
    status = driver.module_function(found, module, text.c_str());
    if (status == CUDA_SUCCESS) functions_.emplace(text, *found);
    if (status != CUDA_ERROR_NOT_FOUND) return status;
  }
  return status;
}

cudaError_t LoadedGpus::open(LoadedGpus*& all) {
  const auto& driver = Driver::get();
  if (!driver) return cudaErrorInsufficientDriver;
  if (const auto status = driver->init(0); status != CUDA_SUCCESS)
    return static_cast<cudaError_t>(status);
  int count = 0;
  if (const auto status = driver->device_count(&count); status != CUDA_SUCCESS)
    return static_cast<cudaError_t>(status);
  auto opened = std::unique_ptr<LoadedGpus>{new LoadedGpus{*driver}};
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    if (const auto status = driver->device(&device, ordinal); status != CUDA_SUCCESS)
      return static_cast<cudaError_t>(status);
    opened->gpus_.push_back(std::make_unique<LoadedGpu>(device));
  }
  all = opened.release();  // kept for good: threads may outlive main()
  return cudaSuccess;
}

cudaError_t LoadedGpus::get(LoadedGpus*& all) {
  static LoadedGpus* opened = nullptr;
  static const cudaError_t status = open(opened);
  all = opened;
  return kept(status);
}

LoadedGpu* LoadedGpus::at(int ordinal) {
  if (ordinal < 0 || ordinal >= count()) return nullptr;
  return gpus_[static_cast<std::size_t>(ordinal)].get();
}

int LoadedGpus::chosen() const { return chosen_gpu.value_or(0); }

cudaError_t LoadedGpus::choose(int ordinal) {
  auto* const gpu = at(ordinal);
  if (gpu == nullptr) return kept(cudaErrorInvalidDevice);
  if (const auto status = gpu->start(driver_); status != CUDA_SUCCESS) return kept(status);
  if (const auto status = driver_.set_context(gpu->context()); status != CUDA_SUCCESS)
    return kept(status);
  chosen_gpu = ordinal;
  return cudaSuccess;
}

cudaError_t LoadedGpus::current(LoadedGpu*& gpu) {
  if (!chosen_gpu)
    if (const auto status = choose(0); status != cudaSuccess) return status;
  gpu = at(*chosen_gpu);
  return cudaSuccess;
}

void launch_kernel(const char* name, Grid grid, CUstream_st* stream, void** values) {
  LoadedGpus* all = nullptr;
  LoadedGpu* gpu = nullptr;
  if (LoadedGpus::get(all) != cudaSuccess || all->current(gpu) != cudaSuccess) return;
  CUfunction function = nullptr;
  const auto& driver = all->driver();
  if (kept(gpu->function(driver, name, &function)) != cudaSuccess) return;
  kept(driver.launch(function, grid.blocks, 1, 1, grid.threads, 1, 1, grid.shared, stream, values,
                     nullptr));
}

int allow_shared_memory(const char* name, int bytes) {
  LoadedGpus* all = nullptr;
  LoadedGpu* gpu = nullptr;
  if (const auto status = LoadedGpus::get(all); status != cudaSuccess) return status;
  if (const auto status = all->current(gpu); status != cudaSuccess) return status;
  CUfunction function = nullptr;
  const auto& driver = all->driver();
  if (const auto status = kept(gpu->function(driver, name, &function)); status != cudaSuccess)
    return status;
  return kept(
      driver.function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
}

}  // namespace cupel::burn

extern "C" cudaError_t cudaGetLastError() { return std::exchange(cupel::burn::last, cudaSuccess); }
