#pragma once
// What the driver says of each GPU at rest: memory, ECC, row remapping, MIG, PCIe link, heat,
// power. Nothing is run on them.
#include "burnin/stage.h"

namespace cupel::burnin {

/// No parameters. GPUs are named by the profile's PCI addresses, so that a missing gpu5 does not
/// make gpu6 a gpu5; without such by the order of their addresses. `gpu.ecc.uncorrected` counts
/// since the driver was loaded; GPUs come from the factory with a count in
/// `gpu.ecc.uncorrected.lifetime`.
/// Source: nvidia-smi(1), section "GPU ATTRIBUTES"; nvsmi_device_v10.dtd to v13.
Stage gpu_facts();

}  // namespace cupel::burnin
