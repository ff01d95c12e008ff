#pragma once
// The GPUs of this node in the order of their PCI addresses, which is nvidia-smi's.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "burnin/agent/burn/options.h"
#include "burnin/agent/burn/report.h"
#include "burnin/agent/burn/watchdog.h"
#include "burnin/agent/common/nvml.h"

namespace cupel::burn {

struct Device {
  Gpu gpu{};
  int ordinal = 0;  // CUDA's number, for cudaSetDevice
  int major = 0;    // compute capability
  int minor = 0;
  int numa = -1;  // of the host, where the GPU hangs; -1: unknown

  std::string part() const { return "gpu" + std::to_string(gpu.index); }
};

struct Node {
  std::vector<Device> devices;
  std::shared_ptr<const agent::nvml::Library> nvml;  // null: not on this node
  std::string driver;  // "580.65.06", or what CUDA says of it: "CUDA 13.0"
  std::string cuda;    // "13.0": what this program was built with
};

/// Those that were chosen, or all. A GPU in MIG mode is refused: a slice of it proves nothing of
/// the whole. Errors: no-cuda-device, usage (a number that is not there), refused, cuda.
Outcome<Node> list_devices(const Options& options);
/// The same before the watchdog: a driver that is dead never answers.
Outcome<Node> list_devices(const Options& options, Watchdog& watchdog);

/// The one that this process sees, with the number that --alone gives it. Errors: as above, and
/// refused where it sees another number of them.
Outcome<Node> list_own_device(const Options& options, Watchdog& watchdog);

/// The start line of a command on these.
Start start_of(const Options& options, const Node& node, std::string nccl = {});

/// Of the GPU's core, its power and the limit that is enforced, where NVML reports them.
std::optional<int> celsius(const Node& node, const Device& device);
std::optional<double> watts(const Node& node, const Device& device);
std::optional<double> watts_limit(const Node& node, const Device& device);

}  // namespace cupel::burn
