#include "orchestrator/settings/settings_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/machine_settings.h"
#include "inventory/profile.h"
#include "orchestrator/settings/bios_plan.h"
#include "orchestrator/settings/boot_sequence.h"

namespace cupel::settings {
namespace {

using inventory::ExpectedBmc;
using inventory::Profile;
using Kind = bmc::EventTarget::Kind;

std::string on_off(bool on) { return on ? "on" : "off"; }

template <class Texts>
std::string listed(const Texts& texts) {
  return printable(fmt::format("{}", fmt::join(texts, ", ")));
}

std::string why_unreadable(const ReportedSettings& reported, std::string_view what) {
  const auto why = reported.unreadable.find(what);
  return why == reported.unreadable.end() ? "the BMC does not report it" : why->second;
}

void refuse(SettingsPlan& plan, std::string name, std::string expected, std::string why,
            SettingState state = SettingState::refused) {
  plan.items.push_back({.name = std::move(name),
                        .expected = std::move(expected),
                        .state = state,
                        .refusal = std::move(why)});
}

/// Where what it belongs to was not read.
void leave(SettingsPlan& plan, std::string name, std::string expected,
           const ReportedSettings& reported, std::string_view what) {
  const bool lacks = reported.lacking.contains(what);
  refuse(plan, std::move(name), std::move(expected), why_unreadable(reported, what),
         lacks ? SettingState::absent : SettingState::refused);
}

SettingState state_of(bool is_so, bool will_be) {
  if (!will_be) return SettingState::differs;
  return is_so ? SettingState::as_expected : SettingState::waits_for_boot;
}

void plan_secure_boot(const Profile& profile, const ReportedSettings& reported,
                      SettingsPlan& plan) {
  for (const auto& expected : profile.settings.portable) {
    if (is_bios_attribute(expected.name, reported)) continue;
    if (!reported.secure_boot) {
      leave(plan, expected.name, expected.value, reported, "secure boot");
      continue;
    }
    const bool on = expected.value == "on";
    const auto& now = *reported.secure_boot;
    const bool active = now.active.value_or(now.next);
    plan.items.push_back({expected.name,
                          on_off(active),
                          expected.value,
                          state_of(active == on, now.next == on),
                          true,
                          {}});
    if (now.next != on) plan.secure_boot = on;
  }
}

/// Firmware waits for an answer at each port that no DHCP server serves. A minute each: OVMF's
/// PXE-E18; boards differ.
std::string saved_by(const bmc::BootOrder& now, const std::vector<std::string>& target) {
  const auto before = network_before_disk(now.current, now.options);
  const auto after = network_before_disk(target, now.options);
  if (before < after + 2) return {};
  return fmt::format("{} network options before the disk: up to {} min of each boot saved", before,
                     before - after);
}

void plan_boot_order(const Profile& profile, const ReportedSettings& reported, SettingsPlan& plan) {
  const auto& kinds = profile.settings.boot_order;
  if (kinds.empty()) return;
  const auto expected = listed(kinds);
  if (!reported.boot_order) return leave(plan, "boot_order", expected, reported, "boot order");
  const auto& now = *reported.boot_order;
  const auto known = [&](const std::string& kind) {
    return std::ranges::any_of(now.options, [&](const auto& one) { return kind_of(one) == kind; });
  };
  if (!std::ranges::any_of(kinds, known))
    return refuse(
        plan, "boot_order", expected,
        "the machine has no such boot option; it has " + kinds_in(now.current, now.options));
  const auto target = in_order(now.next, now.options, kinds);
  plan.items.push_back({"boot_order",
                        kinds_in(now.current, now.options),
                        expected,
                        state_of(now.current == target, now.next == target),
                        true,
                        {},
                        saved_by(now, target)});
  if (now.next != target) plan.boot_order = target;
}

void plan_ntp(const ExpectedBmc& expected, const ReportedSettings& reported, SettingsPlan& plan) {
  if (expected.ntp_servers.empty()) return;
  const auto servers = listed(expected.ntp_servers);
  if (!reported.ntp) return leave(plan, "bmc ntp", servers, reported, "NTP");
  const auto& now = *reported.ntp;
  const bool is_so = now.enabled && now.servers == expected.ntp_servers;
  const auto text = (now.servers.empty() ? "none" : listed(now.servers)) +
                    (now.enabled || now.servers.empty() ? "" : " (off)");
  plan.items.push_back({"bmc ntp", text, servers, state_of(is_so, is_so), false, {}});
  if (!is_so) plan.ntp_servers = expected.ntp_servers;
}

void plan_target(const bmc::EventTarget& expected, std::string_view name,
                 const ReportedSettings& reported, SettingsPlan& plan) {
  if (!reported.event_targets)
    return leave(plan, std::string{name}, expected.destination, reported, "events");
  const bool is_so = std::ranges::any_of(*reported.event_targets, [&](const auto& one) {
    return one.kind == expected.kind && one.destination == expected.destination;
  });
  plan.items.push_back({std::string{name},
                        is_so ? expected.destination : "not a destination",
                        expected.destination,
                        state_of(is_so, is_so),
                        false,
                        {}});
  if (!is_so) plan.event_targets.push_back(expected);
}

void plan_service(const inventory::ExpectedService& expected, const ReportedSettings& reported,
                  SettingsPlan& plan) {
  const auto name = "bmc service " + expected.name;
  if (!reported.services) return leave(plan, name, on_off(expected.enabled), reported, "services");
  const auto now = std::ranges::find_if(*reported.services, [&](const auto& one) {
    return lower_case(one.name) == lower_case(expected.name);
  });
  if (now == reported.services->end())
    return refuse(plan, name, on_off(expected.enabled), "this BMC has no such service",
                  SettingState::absent);
  const bool is_so = now->enabled == expected.enabled;
  plan.items.push_back(
      {name, on_off(now->enabled), on_off(expected.enabled), state_of(is_so, is_so), false, {}});
  if (!is_so) plan.services.push_back(expected);
}

void plan_session_timeout(const ExpectedBmc& expected, const ReportedSettings& reported,
                          SettingsPlan& plan) {
  if (!expected.session_timeout) return;
  const auto text = fmt::format("{} s", expected.session_timeout->count());
  if (!reported.session_timeout)
    return leave(plan, "bmc session_timeout", text, reported, "session timeout");
  const bool is_so = *reported.session_timeout == *expected.session_timeout;
  plan.items.push_back({"bmc session_timeout",
                        fmt::format("{} s", reported.session_timeout->count()),
                        text,
                        state_of(is_so, is_so),
                        false,
                        {}});
  if (!is_so) plan.session_timeout = expected.session_timeout;
}

}  // namespace

std::string_view to_string(SettingState state) {
  switch (state) {
    case SettingState::as_expected:
      return "as expected";
    case SettingState::waits_for_boot:
      return "waits for a boot";
    case SettingState::after_boot:
      return "to be set after a boot";
    case SettingState::differs:
      return "differs";
    case SettingState::refused:
      return "refused";
    case SettingState::absent:
      return "absent";
  }
  __builtin_unreachable();
}

bool SettingsPlan::has(SettingState state) const {
  return std::ranges::find(items, state, &SettingItem::state) != items.end();
}

bool SettingsPlan::is_as_expected() const {
  return std::ranges::all_of(items, [](const auto& item) {
    return item.state == SettingState::as_expected || item.state == SettingState::absent;
  });
}

std::ptrdiff_t SettingsPlan::count(SettingState state) const {
  return std::ranges::count(items, state, &SettingItem::state);
}

bool SettingsPlan::needs_restart() const {
  return std::ranges::any_of(items, [](const SettingItem& item) {
    return item.state == SettingState::waits_for_boot || item.state == SettingState::after_boot ||
           (item.state == SettingState::differs && item.needs_boot);
  });
}

SettingsPlan plan_settings(const Profile& profile, const ReportedSettings& reported) {
  SettingsPlan plan;
  const auto& bmc = profile.settings.bmc;
  plan_bios(profile, reported, plan);
  plan_secure_boot(profile, reported, plan);
  plan_boot_order(profile, reported, plan);
  plan_ntp(bmc, reported, plan);
  for (const auto& server : bmc.syslog)
    plan_target({Kind::syslog, inventory::to_string(server), {}}, "bmc syslog", reported, plan);
  for (const auto& url : bmc.alerts)
    plan_target({Kind::redfish, url, {}}, "bmc alerts", reported, plan);
  for (const auto& service : bmc.services) plan_service(service, reported, plan);
  plan_session_timeout(bmc, reported, plan);
  return plan;
}

std::string described(const SettingsPlan& plan, SettingState state) {
  std::string text;
  for (const auto& item : plan.items) {
    if (item.state != state) continue;
    text += (text.empty() ? "" : "; ") + item.name;
    if (state == SettingState::refused)
      text += " cannot be " + item.expected + ": " + item.refusal;
    else if (state == SettingState::absent)
      text += ": " + item.refusal;
    else
      text += " is " + (item.current.empty() ? "not reported" : item.current) + ", expected " +
              item.expected + (item.note.empty() ? "" : " (" + item.note + ")");
  }
  return text;
}

}  // namespace cupel::settings
