#pragma once
// The BIOS attributes among what a profile wants: portable names by the vendor's rows, and
// attributes by their own names. Pure.
#include "inventory/fwd.h"
#include "orchestrator/settings/settings_plan.h"

namespace cupel::settings {

/// Adds an item for each attribute to `plan`, and what differs to plan.bios. A value that the
/// registry does not allow is refused with the allowed ones.
void plan_bios(const inventory::Profile& profile, const ReportedSettings& reported,
               SettingsPlan& plan);

/// Whether a portable setting is a BIOS attribute on this machine, and not a resource of its own.
bool is_bios_attribute(std::string_view setting, const ReportedSettings& reported);

}  // namespace cupel::settings
