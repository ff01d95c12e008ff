#pragma once
// Which GPUs need a reset, and why: as their driver reports it (nvidia-smi -q -x), and by the Xids
// that the kernel has logged since the boot. Pure; resets nothing.
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent {

struct GpuNeed {
  std::string address{};  // as nvidia-smi has it: "00000000:1B:00.0"
  std::string why{};      // "the driver asks for Reset; Xid 95 at 4711.2 s"; empty: it needs none
  bool restart = false;   // a reset does not mend it: the machine must restart
  bool contained = true;  // of memory errors that were contained, and of nothing else
  bool divided = false;   // MIG is on
  bool other = false;     // there is an Xid, too, which neither of the two mends
};

/// One for each GPU of `smi`, in its order; 256 at most. `log`: lines of the kernel with Xids.
/// Source: NVML, nvmlDeviceGpuRecoveryAction; NVIDIA's Xid catalogue, column "immediate action"
/// (burnin/xids.h).
std::vector<GpuNeed> needs_of(std::string_view smi, std::string_view log);

/// Whether both are the same place: nvidia-smi's "00000000:1B:00.0", the kernel's "0000:1b:00".
bool same_gpu(std::string_view address, std::string_view bus);

}  // namespace cupel::agent
