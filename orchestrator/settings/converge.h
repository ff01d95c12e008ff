#pragma once
// A BMC's settings read, and set as planned. Restarts nothing: when a machine may be restarted is
// policy.
#include "base/task.h"
#include "bmc/bmc.h"
#include "inventory/fwd.h"
#include "orchestrator/settings/settings_snapshot.h"

namespace cupel::settings {

/// Whether a profile wants any setting at all.
bool wants_settings(const inventory::Profile& profile);

/// Asks only for what the profile wants. What this BMC does not have is in `unreadable`. Errors:
/// kCancelled, and whatever may be better next time.
Task<Result<ReportedSettings>> read_settings(bmc::Bmc& bmc, const inventory::Profile& profile,
                                             Deadline deadline);

struct SettingsLook {
  ReportedSettings reported{};
  SettingsPlan plan{};
};

/// read_settings(), and what is to be done. Errors: as read_settings().
Task<Result<SettingsLook>> look_at_settings(bmc::Bmc& bmc, const inventory::Profile& profile,
                                            Deadline deadline);

/// What a plan sets, as it is now, and whose it is. Errors: those after which the BMC is asked
/// again.
Task<Result<SettingsSnapshot>> take_snapshot(bmc::Bmc& bmc, const SettingsLook& look,
                                             Deadline deadline);

/// The machine's serial number; empty where it has none or does not say. Errors: those after which
/// the BMC is asked again.
Task<Result<std::string>> read_serial(bmc::Bmc& bmc, Deadline deadline);

/// Sets what the plan names; each verb reads back what it set. Network services come last. What is
/// refused keeps nothing else from being set. A try after one that broke off begins with a new
/// plan. Errors: kInvalid, or as the verbs, naming all that was not set: the others are; what is
/// transient breaks it off.
Task<Result<void>> apply_settings(bmc::Bmc& bmc, const SettingsPlan& plan, Deadline deadline);

}  // namespace cupel::settings
