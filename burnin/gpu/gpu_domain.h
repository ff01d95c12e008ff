#pragma once
// Which NVLink domain the GPUs of one machine are in, as findings: the same whether nvidia-smi or
// NVML was asked. Not of several machines: inventory/nvlink_domain.h.
#include <span>
#include <string>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// What the driver reports of one GPU's NVLink fabric; empty: not reported.
struct GpuFabric {
  std::string gpu{};  // "gpu3"
  std::string model{};
  std::string state{}, status{};    // "Completed" or "completed", "Success" or "success"
  std::string cluster{}, clique{};  // as text
  bool reports_chassis = false;     // it knows the serial number of its rack
};

/// Whether a GPU belongs in the NVLink domain of a rack, and not of one machine.
bool is_of_rack(const GpuFabric& gpu);

/// Of each GPU of a rack that reports a fabric, `gpu.fabric.joined`: 0 where its state is not
/// completed, its status no success, its clique 0 or its cluster zeros. Of those that have joined,
/// `gpu.fabric.domains`, the number of their domains: traced to the one GPU that is in another than
/// most; and the fact kDomainFact, or kSplitDomainFact where they report several. The other one is
/// empty: an earlier reading of the run may have had it.
void add_domain(std::span<const GpuFabric> gpus, Findings& findings);

}  // namespace cupel::burnin
