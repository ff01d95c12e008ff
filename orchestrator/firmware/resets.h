#pragma once
// The resets that an update needs, before it or behind it.
#include "bmc/power.h"
#include "inventory/baseline.h"

namespace cupel::firmware {

/// Until a board's capacitors are empty. Source: NVIDIA's power drain as infra-controller does it.
inline constexpr std::chrono::seconds kDrained{60};

std::string_view text_of(inventory::FirmwareReset reset);
/// What an operator does where that reset cannot be done from here, behind a write, and what then.
std::string by_hand(inventory::FirmwareReset reset);

/// Before a write: a machine that must be off stays off. Errors: as bmc/power.h.
Task<Result<void>> prepare(bmc::Bmc& bmc, inventory::FirmwareReset reset, Deadline deadline,
                           std::chrono::milliseconds drained = kDrained, bmc::Pace pace = {});

/// Behind a write: the machine is on again when it returns, however it was before, but for a
/// restart of the BMC, which leaves it as it is. Errors: as bmc/power.h; kUnsupported where the
/// machine has no such reset. A machine that was on is switched on again where it fails in between.
Task<Result<void>> do_reset(bmc::Bmc& bmc, inventory::FirmwareReset reset, Deadline deadline,
                            std::chrono::milliseconds drained = kDrained, bmc::Pace pace = {});

}  // namespace cupel::firmware
