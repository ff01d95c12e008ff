#pragma once
// A node under steady load until its temperatures no longer rise: how hot it gets, how far that is
// from throttling, and how unlike its GPUs are.
#include "burnin/stage.h"

namespace cupel::burnin {

/// Parameters: `load` (cpu: stress-ng; gpu: cupel-burn gemm), `duration` (30m; 10s to 168h), and
/// `window` (5m; 5s to 1h): temperatures that change by less than 1.6 C in it are steady. A
/// duration must be two windows or more. "thermal.margin" is what is left until the GPU slows down:
/// temperature.gpu.tlimit, which is a margin and no temperature; of GPUs without it, the distance
/// to their slowdown temperature. "thermal.inlet" comes from the BMC in-band (ipmitool), where it
/// answers, else as the controller read it; beside its neighbours' it is read by the controller
/// alone: burnin/node/inlet.h. Source: nvidia-smi(1), --help-query-gpu; NVML,
/// nvmlDeviceGetMarginTemperature; ipmitool(1).
Stage thermal();

}  // namespace cupel::burnin
