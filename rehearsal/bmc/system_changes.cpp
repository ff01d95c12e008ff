// What a client may change about the machine: its power and its next boot.
#include <fmt/format.h>

#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

struct Press {
  std::string_view word;
  std::optional<Reset> button;  // nothing: a machine without a crash kernel ignores it
};
constexpr std::array<Press, 8> kPresses{{{"On", Reset::on},
                                         {"ForceOn", Reset::on},
                                         {"ForceOff", Reset::force_off},
                                         {"GracefulShutdown", Reset::graceful_shutdown},
                                         {"ForceRestart", Reset::force_restart},
                                         {"GracefulRestart", Reset::graceful_restart},
                                         {"PowerCycle", Reset::power_cycle},
                                         {"Nmi", std::nullopt}}};

struct BootProperty {
  std::string_view name;
  Words values;
  std::string BootOverride::* field;
};

bool has(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

HttpResponse in_standby(const ManagedSystem& machine) {
  return redfish_error(409, "ResourceInStandby",
                       "The request failed because the resource is in standby: the system is " +
                           std::string{to_string(machine.power())} + ".");
}

bool is_so_already(const ManagedSystem& machine, std::string_view word) {
  if (word == "On" || word == "ForceOn") return machine.power() == Power::on;
  if (word == "ForceOff" || word == "GracefulShutdown") return machine.power() == Power::off;
  return false;
}

HttpResponse press(Change& change, std::string_view word) {
  auto& machine = change.machine;
  const auto& behavior = change.state.behavior.power;
  if (behavior.same_state == SameState::conflict && is_so_already(machine, word))
    return redfish_error(409, "ActionParameterValueConflict",
                         fmt::format("The parameter ResetType with the requested value of {} does "
                                     "not meet the constraints of the implementation: the server "
                                     "is already powered {}.",
                                     word, machine.power() == Power::on ? "ON" : "OFF"));
  const bool hangs = word == "ForceRestart" && behavior.force_restart == Restart::hangs;
  if (hangs && machine.power() == Power::on) {
    machine.hang();
    return {.status = 204};
  }
  if (word == "PushPowerButton") word = machine.power() == Power::on ? "GracefulShutdown" : "On";
  const auto row = std::ranges::find(kPresses, word, &Press::word);
  if (row == kPresses.end() || !row->button) return {.status = 204};
  return machine.press(*row->button) ? HttpResponse{.status = 204} : in_standby(machine);
}

/// Sets one property of an override, or says what is wrong with it.
std::optional<HttpResponse> set(BootOverride& boot, const BootBehavior& behavior,
                                std::string_view name, const json::value& value) {
  static constexpr std::array<std::string_view, 1> kModes{"UEFI"};
  const std::array<BootProperty, 3> all{
      {{"BootSourceOverrideEnabled", behavior.enabled, &BootOverride::enabled},
       {"BootSourceOverrideTarget", behavior.targets, &BootOverride::target},
       {"BootSourceOverrideMode", kModes, &BootOverride::mode}}};
  if (name == "HttpBootUri" && behavior.http_uri) {
    if (!value.is_string() && !value.is_null()) return wrong_type(name);
    boot.uri = value.is_string() ? std::string{value.as_string()} : std::string{};
    return std::nullopt;
  }
  const auto property = std::ranges::find(all, name, &BootProperty::name);
  const bool has_it = name != "BootSourceOverrideMode" || behavior.mode;
  if (property == all.end() || !has_it) return unknown_property(name);
  if (!value.is_string()) return wrong_type(name);
  const std::string_view word{value.as_string()};
  if (!has(property->values, word)) return not_in_list(name, word);
  boot.*(property->field) = word;
  return std::nullopt;
}

/// The order in a PATCH of Boot, or what is wrong with it.
std::optional<HttpResponse> stage_order(Change& change, const json::value& requested) {
  const auto* list = requested.if_array();
  std::vector<std::string> order;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!(*list)[i].is_string()) return wrong_type("BootOrder");
    order.emplace_back((*list)[i].as_string());
  }
  if (list == nullptr || !change.state.firmware.stage_order(std::move(order)))
    return not_in_list("BootOrder", json::serialize(requested));
  return std::nullopt;
}

bool is_order_alone(const json::object& boot) {
  return boot.size() == 1 && boot.begin()->key() == "BootOrder";
}

HttpResponse patch_boot(Change& change) {
  const auto& behavior = change.state.behavior.boot;
  if (change.body.empty())
    return redfish_error(400, "NoOperation", "The request body has nothing to change.");
  for (const auto& entry : change.body)
    if (entry.key() != "Boot") return unknown_property(entry.key());
  const auto* boot = change.body.at("Boot").if_object();
  if (!boot) return wrong_type("Boot");
  if (behavior.not_during_post && change.machine.in_post())
    return registry_error(400, "iLO.2.14.UnableToModifyDuringSystemPOST",
                          "The value cannot be modified while the system is in POST.",
                          json::array{"BootSourceOverrideTarget"});
  if (is_order_alone(*boot)) {
    const auto complaint = stage_order(change, boot->begin()->value());
    return complaint ? *complaint : HttpResponse{.status = 204};
  }
  auto requested = change.machine.boot_override();
  if (behavior.forgets_the_rest) {
    requested.enabled = "Once";
    requested.mode = "Legacy";
  }
  for (const auto& entry : *boot)
    if (auto complaint = set(requested, behavior, entry.key(), entry.value())) return *complaint;
  change.machine.set_boot_override(std::move(requested));
  return {.status = 204};
}

bool is_about_locator(const Change& change) {
  return change.body.contains("LocationIndicatorActive") || change.body.contains("IndicatorLED");
}

HttpResponse patch_locator(Change& change) {
  static constexpr std::array<std::string_view, 3> kStandard{"Lit", "Blinking", "Off"};
  const auto& light = change.state.behavior.locator;
  const auto& [name, value] = *change.body.begin();
  if (change.body.size() != 1) return unknown_property(name);
  if (name == "LocationIndicatorActive") {
    if (!light.active) return unknown_property(name);
    if (!value.is_bool()) return wrong_type(name);
    change.machine.set_locator(value.as_bool());
    return {.status = 204};
  }
  if (!light.led) return unknown_property(name);
  if (!value.is_string()) return wrong_type(name);
  const std::string_view word{value.as_string()};
  if (!has(light.words.empty() ? Words{kStandard} : light.words, word))
    return not_in_list(name, word);
  change.machine.set_locator(word != light.off);
  return {.status = 204};
}

}  // namespace

HttpResponse reset_system(Change& change) {
  const auto* type = change.body.if_contains("ResetType");
  if (!type || !type->is_string()) return missing_parameter("ComputerSystem.Reset", "ResetType");
  const std::string_view word{type->as_string()};
  if (!has(change.state.behavior.power.resets, word))
    return value_not_in_list("ComputerSystem.Reset", "ResetType", word);
  return press(change, word);
}

/// The standby power goes too: the BMC is gone as well, and the machine comes back off.
HttpResponse cycle_ac(Change& change) {
  const auto& ac = change.state.behavior.power.ac;
  const auto* type = change.body.if_contains("ResetType");
  if (!type || !type->is_string() || std::string_view{type->as_string()} != ac.word)
    return not_in_list("ResetType", type && type->is_string() ? type->as_string() : "");
  change.machine.press(Reset::force_off);
  if (change.restart) change.restart();
  change.state.updates.power_drained(change.view().now(), change.updates_world);
  return {.status = 204};
}

HttpResponse patch_system(Change& change) {
  if (is_about_locator(change)) return patch_locator(change);
  if (!change.state.behavior.boot.only_in_settings) return patch_boot(change);
  if (!change.body.contains("Boot"))
    return change.body.empty() ? patch_boot(change) : unknown_property(change.body.begin()->key());
  return registry_error(
      400, "Ami.1.0.OperationSupportedInFutureStateURI",
      "The property Boot can only be modified through the URI " + change.view().boot() + ".");
}

HttpResponse patch_boot_settings(Change& change) { return patch_boot(change); }

HttpResponse patch_boot_order(Change& change) {
  const auto* boot = change.body.if_contains("Boot");
  const auto* order = boot == nullptr ? nullptr : boot->if_object();
  if (change.body.size() != 1 || order == nullptr || !is_order_alone(*order))
    return unknown_property(change.body.empty() ? "" : change.body.begin()->key());
  return patch_boot(change);
}

HttpResponse patch_secure_boot(Change& change) {
  for (const auto& entry : change.body)
    if (entry.key() != "SecureBootEnable") return unknown_property(entry.key());
  const auto* requested = change.body.if_contains("SecureBootEnable");
  if (requested == nullptr || !requested->is_bool()) return wrong_type("SecureBootEnable");
  change.state.firmware.stage_secure_boot(requested->as_bool());
  return {.status = 204};
}

}  // namespace cupel::rehearsal
