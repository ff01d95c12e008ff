#pragma once
// The resets that an update needs, before it or behind it.
#include "bmc/power.h"
#include "inventory/baseline.h"

namespace cupel::firmware {

std::string_view text_of(inventory::FirmwareReset reset);

/// Before a write: a machine that must be off stays off. Errors: as bmc/power.h.
Task<Result<void>> prepare(bmc::Bmc& bmc, inventory::FirmwareReset reset, Deadline deadline);

/// Behind a write: the machine is on again when it returns, however it was before, but for a
/// restart of the BMC, which leaves it as it is. Errors: as bmc/power.h; kUnsupported where the
/// machine has no such reset, and nothing was touched.
Task<Result<void>> do_reset(bmc::Bmc& bmc, inventory::FirmwareReset reset, Deadline deadline);

}  // namespace cupel::firmware
