// What a client may change about the machine: its power and its next boot.
#include <fmt/format.h>

#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {
namespace {

constexpr std::array<Reset, kResets.size()> kPresses{Reset::on,
                                                     Reset::force_off,
                                                     Reset::graceful_shutdown,
                                                     Reset::force_restart,
                                                     Reset::graceful_restart,
                                                     Reset::power_cycle};
constexpr std::array<std::string_view, 3> kEnabled{"Disabled", "Once", "Continuous"};
constexpr std::array<std::string_view, 1> kModes{"UEFI"};
constexpr std::array<std::string_view, 8> kTargets{"None", "Pxe",       "Cd",        "Usb",
                                                   "Hdd",  "BiosSetup", "UefiShell", "UefiHttp"};

struct BootProperty {
  std::string_view name;
  std::span<const std::string_view> values;
  std::string BootOverride::* field;
};
constexpr std::array<BootProperty, 3> kBoot{
    {{"BootSourceOverrideEnabled", kEnabled, &BootOverride::enabled},
     {"BootSourceOverrideTarget", kTargets, &BootOverride::target},
     {"BootSourceOverrideMode", kModes, &BootOverride::mode}}};

HttpResponse malformed() {
  return redfish_error(400, "MalformedJSON", "The request body contains malformed JSON.");
}

HttpResponse unknown(std::string_view property) {
  return redfish_error(400, "PropertyUnknown",
                       fmt::format("The property {} is not in the list of valid properties for the "
                                   "resource.",
                                   property));
}

/// Sets one property of an override, or says what is wrong with it.
std::optional<HttpResponse> set(BootOverride& boot, std::string_view name,
                                const json::value& value) {
  const auto property = std::ranges::find(kBoot, name, &BootProperty::name);
  if (property == kBoot.end()) return unknown(name);
  if (!value.is_string())
    return redfish_error(400, "PropertyValueTypeError",
                         fmt::format("The value for the property {} is of a different type than "
                                     "the property can accept.",
                                     name));
  const std::string_view word{value.as_string()};
  if (std::ranges::find(property->values, word) == property->values.end())
    return redfish_error(400, "PropertyValueNotInList",
                         fmt::format("The value '{}' for the property {} is not in the list of "
                                     "acceptable values.",
                                     word, name));
  boot.*(property->field) = word;
  return std::nullopt;
}

}  // namespace

HttpResponse reset_system(Machine& machine, const HttpRequest& request) {
  const auto body = parse_json(request.body);
  if (!body || !body.assume_value().is_object()) return malformed();
  const auto type = text_at(body.assume_value(), "ResetType");
  if (!type)
    return redfish_error(400, "ActionParameterMissing",
                         "The action ComputerSystem.Reset requires the parameter ResetType to be "
                         "present in the request body.");
  const auto known = std::ranges::find(kResets, std::string_view{*type});
  if (known == kResets.end())
    return redfish_error(400, "ActionParameterValueNotInList",
                         fmt::format("The value '{}' for the parameter ResetType in the action "
                                     "ComputerSystem.Reset is not in the list of acceptable "
                                     "values.",
                                     *type));
  const auto press = kPresses[static_cast<std::size_t>(known - kResets.begin())];
  if (!machine.press(press))
    return redfish_error(409, "ResourceInStandby",
                         "The request failed because the resource is in standby: the system is " +
                             std::string{to_string(machine.power())} + ".");
  return {.status = 204};
}

HttpResponse patch_system(Machine& machine, const HttpRequest& request) {
  const auto body = parse_json(request.body);
  const auto* object = body ? body.assume_value().if_object() : nullptr;
  if (!object) return malformed();
  if (object->empty())
    return redfish_error(400, "NoOperation", "The request body has nothing to change.");
  for (const auto& entry : *object)
    if (entry.key() != "Boot") return unknown(entry.key());
  const auto* boot = object->at("Boot").if_object();
  if (!boot)
    return redfish_error(400, "PropertyValueTypeError",
                         "The value for the property Boot is of a different type than the property "
                         "can accept.");
  auto wanted = machine.boot_override;
  for (const auto& entry : *boot)
    if (auto complaint = set(wanted, entry.key(), entry.value())) return *complaint;
  machine.boot_override = std::move(wanted);
  return {.status = 204};
}

}  // namespace cupel::rehearsal
