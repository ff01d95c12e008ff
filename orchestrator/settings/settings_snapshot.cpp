#include "orchestrator/settings/settings_snapshot.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "inventory/identity.h"

namespace cupel::settings {
namespace {

using inventory::ExpectedService;

constexpr std::size_t kMostLeft = 64;

json::value json_of_value(const bmc::BiosValue& value) {
  return std::visit([](const auto& one) { return json::value(one); }, value);
}

std::optional<bmc::BiosValue> bios_value(const json::value& value) {
  if (value.is_bool()) return bmc::BiosValue{value.get_bool()};
  if (value.is_int64()) return bmc::BiosValue{value.get_int64()};
  if (value.is_double()) return bmc::BiosValue{value.get_double()};
  if (value.is_string()) return bmc::BiosValue{std::string{value.get_string()}};
  return std::nullopt;
}

std::vector<std::string> texts_in(const json::value& list) {
  std::vector<std::string> texts;
  if (const auto* array = list.if_array())
    for (const auto& each : *array)
      if (each.is_string()) texts.emplace_back(each.get_string());
  return texts;
}

void take_services(const SettingsPlan& plan, const ReportedSettings& reported,
                   SettingsSnapshot& before) {
  if (!reported.services) return;
  for (const auto& expected : plan.services)
    for (const auto& service : *reported.services)
      if (lower_case(service.name) == lower_case(expected.name))
        before.services.push_back({service.name, service.enabled});
}

/// No BMC is given an empty list, and none has its NTP turned off.
void take_ntp(const SettingsPlan& plan, const ReportedSettings& reported,
              SettingsSnapshot& before) {
  if (!plan.ntp_servers || !reported.ntp) return;
  if (reported.ntp->enabled && !reported.ntp->servers.empty())
    before.ntp_servers = reported.ntp->servers;
  else
    before.left.emplace_back("NTP, which was off or had no server");
}

template <class T>
void fill(std::optional<T>& first, const std::optional<T>& later) {
  if (!first) first = later;
}

void read_services(const json::value& list, SettingsSnapshot& snapshot) {
  const auto* object = list.if_object();
  if (object == nullptr) return;
  for (const auto& entry : *object)
    if (entry.value().is_bool())
      snapshot.services.push_back({std::string{entry.key()}, entry.value().get_bool()});
}

}  // namespace

SettingsSnapshot snapshot_before(const SettingsPlan& plan, const ReportedSettings& reported) {
  SettingsSnapshot before;
  for (const auto& [name, value] : plan.bios) {
    if (!reported.bios) break;
    const auto now = reported.bios->current.find(name);
    if (now != reported.bios->current.end()) before.bios.emplace(name, now->second);
  }
  if (plan.boot_order && reported.boot_order) before.boot_order = reported.boot_order->next;
  if (plan.secure_boot && reported.secure_boot) before.secure_boot = reported.secure_boot->next;
  take_ntp(plan, reported, before);
  take_services(plan, reported, before);
  if (plan.session_timeout) before.session_timeout = reported.session_timeout;
  for (const auto& target : plan.event_targets)
    if (before.left.size() < kMostLeft)
      before.left.push_back("event destination " + printable(target.destination) +
                            ", which was added");
  return before;
}

bool is_of_another(const SettingsSnapshot& snapshot, std::string_view serial) {
  return !snapshot.serial.empty() && !serial.empty() &&
         inventory::serial_key(snapshot.serial) != inventory::serial_key(serial);
}

SettingsSnapshot joined(SettingsSnapshot first, const SettingsSnapshot& later) {
  if (is_of_another(first, later.serial)) return later;
  if (first.serial.empty()) first.serial = later.serial;
  first.bios.insert(later.bios.begin(), later.bios.end());
  fill(first.boot_order, later.boot_order);
  fill(first.secure_boot, later.secure_boot);
  fill(first.ntp_servers, later.ntp_servers);
  fill(first.session_timeout, later.session_timeout);
  for (const auto& service : later.services)
    if (std::ranges::find(first.services, service.name, &ExpectedService::name) ==
        first.services.end())
      first.services.push_back(service);
  for (const auto& left : later.left) {
    const bool known = std::ranges::find(first.left, left) != first.left.end();
    if (!known && first.left.size() < kMostLeft) first.left.push_back(left);
  }
  return first;
}

SettingsPlan plan_back(const SettingsSnapshot& snapshot) {
  SettingsPlan plan;
  plan.bios = snapshot.bios;
  plan.boot_order = snapshot.boot_order;
  plan.secure_boot = snapshot.secure_boot;
  plan.ntp_servers = snapshot.ntp_servers;
  plan.services = snapshot.services;
  plan.session_timeout = snapshot.session_timeout;
  return plan;
}

std::vector<std::string> names_in(const SettingsSnapshot& snapshot) {
  std::vector<std::string> names;
  for (const auto& [name, value] : snapshot.bios) names.push_back("bios " + printable(name));
  if (snapshot.boot_order) names.emplace_back("boot order");
  if (snapshot.secure_boot) names.emplace_back("secure boot");
  if (snapshot.ntp_servers) names.emplace_back("bmc ntp");
  for (const auto& service : snapshot.services)
    names.push_back("bmc service " + printable(service.name));
  if (snapshot.session_timeout) names.emplace_back("bmc session timeout");
  return names;
}

std::string to_text(const SettingsSnapshot& snapshot) {
  json::object text, bios, services;
  for (const auto& [name, value] : snapshot.bios) bios[name] = json_of_value(value);
  for (const auto& service : snapshot.services) services[service.name] = service.enabled;
  text["serial"] = snapshot.serial;
  text["bios"] = std::move(bios);
  text["services"] = std::move(services);
  if (snapshot.boot_order) text["boot_order"] = json::value_from(*snapshot.boot_order);
  if (snapshot.secure_boot) text["secure_boot"] = *snapshot.secure_boot;
  if (snapshot.ntp_servers) text["ntp_servers"] = json::value_from(*snapshot.ntp_servers);
  if (snapshot.session_timeout) text["session_timeout"] = snapshot.session_timeout->count();
  text["left"] = json::value_from(snapshot.left);
  return json::serialize(text);
}

Result<SettingsSnapshot> read_snapshot(std::string_view text) {
  const auto read = parse_json(text);
  const auto* bios = read ? find(*read, "bios") : nullptr;
  if (bios == nullptr || !bios->is_object())
    return Error{Code::kMalformed, "the settings from before cannot be read"};
  SettingsSnapshot snapshot;
  snapshot.serial = text_at(*read, "serial").value_or("");
  for (const auto& entry : bios->get_object())
    if (auto value = bios_value(entry.value()))
      snapshot.bios.emplace(std::string{entry.key()}, std::move(*value));
  if (const auto* list = find(*read, "services")) read_services(*list, snapshot);
  if (const auto* list = find(*read, "boot_order")) snapshot.boot_order = texts_in(*list);
  if (const auto* list = find(*read, "ntp_servers")) snapshot.ntp_servers = texts_in(*list);
  if (const auto* on = find(*read, "secure_boot"); on != nullptr && on->is_bool())
    snapshot.secure_boot = on->get_bool();
  if (const auto* timeout = find(*read, "session_timeout");
      timeout != nullptr && timeout->is_int64())
    snapshot.session_timeout = std::chrono::seconds{timeout->get_int64()};
  if (const auto* list = find(*read, "left")) snapshot.left = texts_in(*list);
  return snapshot;
}

}  // namespace cupel::settings
