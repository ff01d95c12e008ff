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

/// What a person is to do then, with RUN and NODE in the command: repeat the step once the window
/// is open, or begin a run with one that is long enough.
std::string way_on_after(const inventory::MaintenanceWindow& window,
                         const inventory::Profile& profile, const FirmwarePlan& plan);

}  // namespace cupel::firmware
