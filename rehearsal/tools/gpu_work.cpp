#include "rehearsal/tools/gpu_work.h"

#include <fmt/format.h>

#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {
namespace {

std::vector<std::string> names_of(const std::vector<int>& gpus) {
  std::vector<std::string> names;
  for (const int gpu : gpus) names.push_back(fmt::format("gpu{}", gpu));
  return names;
}

}  // namespace

std::optional<CudaError> cuda_error(Host& host) {
  const auto driver = look_at_gpus(host);
  if (driver.library != driver.version)
    return CudaError{803, "cudaErrorSystemDriverMismatch",
                     "system has unsupported display driver / cuda driver combination"};
  if (driver.any_lost()) return CudaError{999, "cudaErrorUnknown", "unknown error"};
  // Without their NVLink fabric GPUs behind switches do not compute at all.
  if (!driver.loaded)
    return CudaError{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"};
  const bool switched = !host.machine().hardware().nvswitches.empty();
  if (switched && !fabric_manager(host).serves)
    return CudaError{802, "cudaErrorSystemNotReady", "system not yet initialized"};
  if (cuda_devices(host).empty())
    return CudaError{100, "cudaErrorNoDevice", "no CUDA-capable device is detected"};
  return std::nullopt;
}

std::vector<GpuView> cuda_devices(Host& host) {
  auto gpus = look_at_gpus(host).gpus;
  std::erase_if(gpus, [](const GpuView& gpu) { return gpu.mig || gpu.lost; });
  return gpus;
}

GpuWork::GpuWork(ProcessPtr process, std::string program, Work work, std::vector<int> gpus, int mib)
    : process_{std::move(process)},
      work_{work},
      gpus_{std::move(gpus)},
      names_{names_of(gpus_)},
      context_{process_->host.gpus(), names_, {process_->number, std::move(program), mib}},
      load_{process_->host.machine().physics().hold({.work = work_, .gpus = gpus_})} {}

/// Of its GPUs the first that is no longer there.
std::string GpuWork::gone() const {
  for (const int gpu : gpus_)
    if (process_->host.machine().physics().gpu(gpu).limit_watts <= 0)
      return fmt::format("gpu{}", gpu);
  return {};
}

Task<bool> GpuWork::last(VirtualTime span) {
  constexpr VirtualTime kNoticed{20};  // until the program hears of it
  const auto falls = gone();
  const auto waits = falls.empty() ? span : std::min(span, kNoticed);
  const bool whole = co_await process_->sleep(waits);
  fallen_ = gone();
  if (!fallen_.empty())
    process_->host.gpus().lose(fallen_, process_->host.machine().clock().elapsed().count());
  co_return whole&& fallen_.empty();
}

double GpuWork::slowest() const {
  double least = 1e9;
  for (const int gpu : gpus_)
    least = std::min(least, process_->host.machine().physics().speed(gpu, work_));
  return gpus_.empty() ? 0 : least;
}

}  // namespace cupel::rehearsal
