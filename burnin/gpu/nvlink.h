#pragma once
// NVLinks as `nvidia-smi nvlink -s` and `-e` tell them, and how the kernel speaks of NVSwitches and
// GPUs: Xids and SXids. Pure.
#include <span>
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// A GPU of which the driver reported, by what other tools call it.
struct KnownGpu {
  std::string name;     // "gpu3"
  std::string uuid;     // "GPU-..."
  std::string address;  // PCI
};

/// "nvlink.active" (links), "nvlink.crc_errors", "nvlink.replays", "nvlink.recoveries" of each GPU
/// that has NVLinks. A GPU all of whose links are inactive has none active; where the driver does
/// not answer (MIG), they are unknown. Lines of other tools in between do not matter.
void add_nvlinks(std::string_view text, std::span<const KnownGpu> gpus, Findings& findings);

/// The line before lines of the kernel's log: it was read.
inline constexpr std::string_view kKernelLogMark = "cupel-kernel-log: told";

/// "gpu.xid": the first serious Xid of a GPU (burnin/xids.h), 0 for none; "nvswitch.sxid": its
/// first fatal SXid. `places`: the profile's addresses of gpu0, gpu1, ... Only where the kernel's
/// log was read.
void add_xids(std::string_view text, std::span<const KnownGpu> gpus,
              std::span<const std::string> places, Findings& findings);

}  // namespace cupel::burnin
