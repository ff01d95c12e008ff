#pragma once
// nvidia-smi's commands about what joins GPUs: `nvlink` and `topo`.
#include <span>
#include <string>

#include "rehearsal/tools/gpu_view.h"

namespace cupel::rehearsal {

/// `nvlink -s`, `-e` and `-c`, of one GPU.
std::string link_status(const GpuView& gpu);
std::string link_errors(const GpuView& gpu);
std::string link_capabilities(const GpuView& gpu);

/// `topo -m`
std::string topology(const DriverView& driver, const Hardware& hardware);

/// The HCA on the same PCIe switch as this GPU; nullptr where there is none.
const Adapter* adapter_beside(const Hardware& hardware, const Gpu& gpu);

}  // namespace cupel::rehearsal
