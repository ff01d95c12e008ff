#pragma once
// A program at work on GPUs: its load on the machine's physics and its context in the driver, for
// as long as it runs in the rack's time; and what CUDA says where it cannot begin.
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/physics/machine_physics.h"
#include "rehearsal/shell/process.h"
#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {

/// As cudaGetErrorString has it. Source: CUDA runtime API, cudaError.
struct CudaError {
  int code = 0;
  std::string name{}, text{};
};

/// What cuInit says on this node now; nothing where it works.
std::optional<CudaError> cuda_error(Host& host);

/// The GPUs that CUDA counts: those in MIG mode without an instance are none.
std::vector<GpuView> cuda_devices(Host& host);

class GpuWork {
 public:
  /// `gpus`: positions on the baseboard. It begins now, and ends with this object.
  GpuWork(ProcessPtr process, std::string program, Work work, std::vector<int> gpus, int mib);

  /// So long in the rack's time. False where a signal came or one of its GPUs fell off its bus.
  Task<bool> last(VirtualTime span);
  /// The GPU that fell off its bus; empty while all are there.
  const std::string& fallen() const { return fallen_; }
  /// The slowest of its GPUs, as a share of what is usual.
  double slowest() const;

 private:
  std::string gone() const;

  ProcessPtr process_;
  Work work_;
  std::vector<int> gpus_;
  std::vector<std::string> names_;
  GpuDriver::Context context_;
  RunningLoad load_;
  std::string fallen_;
};

}  // namespace cupel::rehearsal
