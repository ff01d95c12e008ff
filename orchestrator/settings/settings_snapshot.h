#pragma once
// What a machine's settings were before Cupel set them: kept before anything is sent, so that they
// can be set back. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "orchestrator/settings/settings_plan.h"

namespace cupel::settings {

struct SettingsSnapshot {
  std::string serial{};  // of the machine that had them; empty: it did not say
  bmc::BiosValues bios{};
  std::optional<std::vector<std::string>> boot_order{};
  std::optional<bool> secure_boot{};
  std::optional<std::vector<std::string>> ntp_servers{};
  std::vector<inventory::ExpectedService> services{};
  std::optional<std::chrono::seconds> session_timeout{};
  /// What cannot be set back from here, in words: "event destination udp://10.0.0.9:514, which was
  /// added".
  std::vector<std::string> left{};

  friend bool operator==(const SettingsSnapshot&, const SettingsSnapshot&) = default;
};

/// Of the settings that the plan sets, and of no others.
SettingsSnapshot snapshot_before(const SettingsPlan& plan, const ReportedSettings& reported);

/// Whether it is of another machine than the one with this serial number: one that stood here
/// before. Where one of the two does not say it is not.
bool is_of_another(const SettingsSnapshot& snapshot, std::string_view serial);

/// What each setting was before it was set first: what `first` has stays, whatever was set since;
/// but nothing of a machine that stood here before.
SettingsSnapshot joined(SettingsSnapshot first, const SettingsSnapshot& later);

/// Sets them back, as apply_settings() takes it.
SettingsPlan plan_back(const SettingsSnapshot& snapshot);

/// Names of all that is set back: "bios SysProfile", "boot order".
std::vector<std::string> names_in(const SettingsSnapshot& snapshot);

std::string to_text(const SettingsSnapshot& snapshot);
/// Errors: kMalformed.
Result<SettingsSnapshot> read_snapshot(std::string_view text);

}  // namespace cupel::settings
