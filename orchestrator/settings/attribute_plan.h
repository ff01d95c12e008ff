#pragma once
// Which of the expected BIOS attributes one apply sets, by the dependencies of the machine's
// registry: what others make writable goes with them, what they lock or change is reported before
// anything is written. Pure.
#include "orchestrator/settings/settings_plan.h"

namespace cupel::settings {

/// An attribute of the machine, and the item of the plan that says what is requested of it.
struct ExpectedAttribute {
  std::string attribute{}, value{};
  std::size_t item = 0;
};

/// Writes state, refusal and note into the items, what is to be sent into plan.bios, and into
/// plan.notes which dependencies of these attributes could not be evaluated. One attribute that
/// cannot be set keeps no other from being set, except what depends on it.
void plan_attributes(const ReportedSettings& reported,
                     const std::vector<ExpectedAttribute>& expected, SettingsPlan& plan);

}  // namespace cupel::settings
