#pragma once
// Firmware that is written from the host: adapters by mstflint, drives by nvme-cli. The images are
// those of rehearsal/bmc/image.h, for `hca` or `mlx5_3`, `nvme` or `nvme3`.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

/// nvme fw-download, fw-commit (fw-activate) and fw-log, as nvme-cli 2.4 has them.
Task<int> nvme_firmware(ProcessPtr process, Arguments arguments);
Task<int> nvme_reset(ProcessPtr process, Arguments arguments);

std::span<const Tool> firmware_tools();  // mstflint, flint, mstfwreset, mlxfwreset

}  // namespace cupel::rehearsal
