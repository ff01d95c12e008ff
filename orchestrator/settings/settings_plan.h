#pragma once
// What has to be done to one machine so that its settings are as the profile wants them: pure, from
// what its BMC reports. Nothing here is done.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bmc/answers.h"
#include "bmc/setting_answers.h"
#include "inventory/fwd.h"
#include "inventory/machine_settings.h"

namespace cupel::settings {

/// What a BMC reported. What the profile does not ask for was not asked.
struct ReportedSettings {
  std::string vendor{};  // as bmc::Identity tells it
  std::optional<bmc::BiosSettings> bios{};
  bmc::BiosRegistry bios_registry{};
  std::optional<bmc::BootOrder> boot_order{};
  std::optional<bmc::SecureBootState> secure_boot{};
  std::optional<bmc::NtpSettings> ntp{};
  std::optional<std::vector<bmc::EventTarget>> event_targets{};
  std::optional<std::vector<bmc::NetworkService>> services{};
  std::optional<std::chrono::seconds> session_timeout{};
  /// Why what is missing above could not be read: by "BIOS", "boot order", "secure boot", "NTP",
  /// "events", "services", "session timeout".
  std::map<std::string, std::string, std::less<>> unreadable{};
  /// Of these, what the BMC says that it does not have.
  std::set<std::string, std::less<>> lacking{};
};

enum class SettingState {
  as_expected,
  waits_for_boot,  // the next boot makes it so
  after_boot,      // can be set once the next boot has made others current: SettingItem::note
  differs,
  refused,  // Cupel will not set it: SettingItem::refusal
  absent,   // this machine has no such setting: it is left out. Why: SettingItem::refusal
};
std::string_view to_string(SettingState state);

/// How one setting stands.
struct SettingItem {
  std::string name{};     // "iommu (VTdSupport)", "bios SysProfile", "bmc ntp"
  std::string current{};  // as reported
  std::string expected{};
  SettingState state{};
  bool needs_boot = false;  // takes effect at the next boot
  std::string refusal{};
  std::string note{};  // what other settings have to do with it, what it gives
  friend bool operator==(const SettingItem&, const SettingItem&) = default;
};

struct SettingsPlan {
  std::vector<SettingItem> items{};  // all that the profile wants, in its order
  std::vector<std::string> notes{};  // what could not be taken into account
  // What is to be set; empty where nothing is.
  bmc::BiosValues bios{};
  std::optional<std::vector<std::string>> boot_order{};
  std::optional<bool> secure_boot{};
  std::optional<std::vector<std::string>> ntp_servers{};
  std::vector<bmc::EventTarget> event_targets{};
  std::vector<inventory::ExpectedService> services{};
  std::optional<std::chrono::seconds> session_timeout{};

  /// All that the machine has of it.
  bool is_as_expected() const;
  bool has(SettingState state) const;
  std::ptrdiff_t count(SettingState state) const;
  /// Something waits for a boot, or will once it is set.
  bool needs_restart() const;
};

SettingsPlan plan_settings(const inventory::Profile& profile, const ReportedSettings& reported);

/// "iommu is Disabled, expected Enabled; ...": of the items in that state. Refusals, and what is
/// absent, with their reason.
std::string described(const SettingsPlan& plan, SettingState state);

}  // namespace cupel::settings
