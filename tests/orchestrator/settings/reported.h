#pragma once
// What a machine reports, and what a profile wants, written in a few words.
#include <gmock/gmock.h>

#include "inventory/fwd.h"
#include "inventory/machine_settings.h"
#include "inventory/profile.h"
#include "orchestrator/settings/settings_plan.h"

namespace cupel::settings {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

inline bmc::BiosValue word(std::string text) { return bmc::BiosValue{std::move(text)}; }

inline ReportedSettings machine_of(std::string vendor, bmc::BiosValues current) {
  ReportedSettings reported;
  reported.vendor = std::move(vendor);
  reported.bios = bmc::BiosSettings{.current = std::move(current)};
  return reported;
}

inline inventory::Profile wanting(std::vector<inventory::ExpectedPortable> portable) {
  inventory::Profile profile;
  profile.settings.portable = std::move(portable);
  return profile;
}

/// "name: current -> expected, state[: refusal]".
inline std::vector<std::string> lines_of(const SettingsPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& item : plan.items)
    lines.push_back(item.name + ": " + item.current + " -> " + item.expected + ", " +
                    std::string{to_string(item.state)} +
                    (item.refusal.empty() ? "" : ": " + item.refusal));
  return lines;
}

}  // namespace cupel::settings
