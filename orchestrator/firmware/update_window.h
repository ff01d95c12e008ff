#pragma once
// Whether an update may begin in a maintenance window. Pure.
#include "inventory/maintenance_window.h"
#include "orchestrator/firmware/firmware_plan.h"

namespace cupel::firmware {

/// Why the first component of the plan is not begun: its writes and resets, by the times of the
/// profile, might not end in the window. Names all that is left. Empty: it may begin.
std::string why_not_in(const inventory::MaintenanceWindow& window,
                       const inventory::Profile& profile, const FirmwarePlan& plan,
                       std::chrono::sys_seconds now);

}  // namespace cupel::firmware
