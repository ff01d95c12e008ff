#include "bmc/redfish/vendors.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

// A GET of a root of trust may hang (BlueField-3), and its firmware is in the firmware inventory.
constexpr std::array<std::string_view, 2> kRootsOfTrust{"ERoT", "IRoT"};
constexpr std::array<std::string_view, 3> kRootsOfTrustDgx{"ERoT", "IRoT", "EROT"};
constexpr std::array<std::string_view, 1> kFirmware{"/FirmwareInventory"};

constexpr std::array<std::string_view, 3> kOldIlos{"iLO 4", "iLO 5", "iLO 6"};
// The hardware's log: the others of these vendors are audits, alerts and debugging.
constexpr std::array<std::string_view, 1> kHpeLogs{"IML"}, kLenovoLogs{"PlatformLog"};

// IPMI keeps 20 bytes of a password (IPMI 2.0, 22.30), and an account is mostly one for both.
constexpr std::size_t kIpmiKeeps = 20;

constexpr std::array<UpdateRules, 1> kHpeUpdates{{{.form_session = "sessionKey"}}};

// Lenovo's SR635 and SR655 of the first generation have MegaRAC under the name of TSM.
constexpr std::array<OfComponent, 1> kTsmTargets{{{"", "/redfish/v1/Managers/Self"}}};
constexpr std::array<OfComponent, 2> kTsmParameters{
    {{"bmc", R"({"FlashType":"HPMFwUpdate","UploadSelector":"Default"})"},
     {"bios", R"({"FlashType":"UEFIUpdate","UploadSelector":"Default"})"}}};
constexpr std::array<UpdateRules, 1> kLenovoUpdates{{{.sign = "Oem/AMIUpdateService",
                                                      .targets = kTsmTargets,
                                                      .oem_parameters = kTsmParameters,
                                                      .locks_while_writing = true}}};

// What fwupd sends, but for the settings, which stay.
constexpr std::array<OfComponent, 2> kSupermicroTargets{
    {{"bios", "{system}/Bios"}, {"bmc", "{manager}"}}};
constexpr std::array<OfComponent, 2> kSupermicroSimple{
    {{"bios", "{system}"}, {"bmc", "{manager}"}}};
constexpr std::array<OfComponent, 1> kSupermicroOem{
    {{"bios", R"({"Supermicro":{"BIOS":{"PreserveME":false,"PreserveNVRAM":true,)"
              R"("PreserveSMBIOS":true,"BackupBIOS":false}}})"}}};
constexpr std::array<UpdateRules, 1> kSupermicroUpdates{{{.targets = kSupermicroTargets,
                                                          .simple_targets = kSupermicroSimple,
                                                          .oem = kSupermicroOem,
                                                          .verifies_first = true}}};

constexpr std::array<OfComponent, 3> kAmiParameters{{{"bmc", R"({"ImageType":"BMC"})"},
                                                     {"bios", R"({"ImageType":"BIOS"})"},
                                                     {"cpld", R"({"ImageType":"CPLD"})"}}};
constexpr std::array<UpdateRules, 1> kAmiUpdates{
    {{.oem_parameters = kAmiParameters, .locks_while_writing = true}}};

// In the order of preference where two fit equally well. `expands` where the vendor documents it
// and nobody has seen required properties go; AMI's and old OpenBMC's drop them.
constexpr std::array kRules{
    Rules{.vendor = "NVIDIA",
          .system_manufacturer = "nvidia",
          .root_vendor = "nvidia",
          .oem_key = "nvidia",
          .model = "bluefield",
          .idle_chassis = kRootsOfTrustDgx,
          .ac_cycle = {.at = AcCycle::At::chassis,
                       .action = "Actions/Oem/#NvidiaChassis.AuxPowerReset",
                       .word = "AuxPowerCycle"},
          .no_media_advice =
              "if it is a DGX, it has them once remote media are enabled in its web page",
          .own_account = "{user}",
          .password = {.shortest = 8, .longest = kIpmiKeeps},
          .syslog = {.object = "Oem/Nvidia/Rsyslog",
                     .host = "Address",
                     .port = "Port",
                     .enabled = "State",
                     .on = "Enabled",
                     .protocol = "TransportProtocol"},
          .slow_resources = kFirmware},
    Rules{.vendor = "Dell",
          .system_manufacturer = "dell",
          .root_vendor = "dell",
          .oem_key = "dell",
          .model = "poweredge",
          .serial_is_sku = true,
          .http_uri_instead = "set the BIOS attributes HttpDev1EnDis and HttpDev1Uri",
          .ac_cycle = {.at = AcCycle::At::chassis,
                       .action = "Actions/Oem/#DellOemChassis.ExtendedReset",
                       .word = "PowerCycle"},
          // At rest it is lit (blue): only blinking says "here".
          .locator = {.on = "Blinking", .off = "Lit"},
          .own_account = "2",
          .password = {.longest = kIpmiKeeps},
          .console_command = "console com2",
          .job_queue = "Oem/Dell/Jobs",
          .forgets_until_reset = true,
          .expands = true},
    Rules{.vendor = "HPE",
          .system_manufacturer = "hpe",
          .root_vendor = "hpe",
          .oem_key = "hpe",
          .model = "ilo",
          .device_list = "Oem/Hpe/Links/Devices",
          .card_list = "Oem/Hpe/Links/NetworkAdapters",
          // A valid password is refused now and then, and after a refusal the next one for a while.
          .wrong_after_refusals = 5,
          .pause_after_refusal = std::chrono::seconds{3},
          .break_kept_connections = kOldIlos,
          .http_uri_instead = "set the BIOS attribute UrlBootFile",
          .ac_cycle = {.action = "Oem/Hpe/Actions/#HpeComputerSystemExt.SystemReset",
                       .word = "AuxCycle",
                       .only_when_off = true},
          .own_account = "1",
          .password = {.shortest = 8, .longest = 39},
          .event_logs = kHpeLogs,
          .console_command = "vsp",
          .bios_reset = "default",
          .ntp = {.link = "Oem/Hpe/Links/DateTimeService", .servers = "StaticNTPServers"},
          .syslog = {.object = "Oem/Hpe",
                     .host = "RemoteSyslogServer",
                     .port = "RemoteSyslogPort",
                     .enabled = "RemoteSyslogEnabled"},
          .expands = true,
          .updates = kHpeUpdates},
    Rules{.vendor = "Lenovo",
          .system_manufacturer = "lenovo",
          .root_vendor = "lenovo",
          .oem_key = "lenovo",
          .model = "xclarity",
          .bios_names_macs = true,
          .override_only_once = true,
          .ac_cycle = {.action = "Actions/Oem/#LenovoComputerSystem.SystemReset",
                       .word = "ACPowerCycle"},
          .media_slot = "EXT",
          .own_account = "1",
          .password = {.shortest = 10, .longest = 32, .classes = 2},
          .event_logs = kLenovoLogs,
          .console_command = "console 1",
          .updates = kLenovoUpdates},
    Rules{.vendor = "Supermicro",
          .system_manufacturer = "supermicro",
          .root_vendor = "supermicro|smci",  // either; SMCI is what fwupd looks for
          .oem_key = "supermicro",
          .model = "sys-",
          .dummy_psu = "PWS-DF",
          .idle_chassis = kRootsOfTrust,
          .virtual_cd = "UsbCd",
          .ac_cycle = {.action = "Actions/Oem/#OemSystemExtensions.Reset", .word = "ACCycle"},
          .media_url_trouble = "?=",
          .own_account = "2",
          .password = {.shortest = 8, .longest = kIpmiKeeps, .classes = 3},
          .updates = kSupermicroUpdates},
    Rules{.vendor = "GIGABYTE",
          .system_manufacturer = "gigabyte",
          .root_vendor = "gigabyte",
          .oem_key = "gbt",
          .future_state = "/SD",
          .forgets_until_reset = true,
          .updates = kAmiUpdates},
    Rules{.vendor = "AMI",
          .root_vendor = "ami",
          .oem_key = "ami",
          .future_state = "/SD",
          .updates = kAmiUpdates},
    Rules{.vendor = "OpenBMC", .oem_key = "openbmc", .model = "openbmc", .own_account = "{user}"},
};
constexpr Rules kNobody{};

/// Versions of the BMC's firmware from `from` to before `before`; empty: no bound.
struct Exception {
  std::string_view vendor, model;  // the model as a part of what is reported, lower case
  std::string_view from{}, before{};
  ModelQuirks handling;
};

constexpr PasswordRules kDgxPassword{.shortest = 13, .longest = 20, .special = true};
constexpr ModelQuirks kDgxH100{
    .restart_cuts_dpu_power = true, .password = kDgxPassword, .own_account = "2"};

constexpr std::array kExceptions{
    Exception{.vendor = "Lenovo", .model = "sr675 v3", .handling = {.restart_is_off_on = true}},
    Exception{
        .vendor = "Lenovo", .model = "sr650 v4", .handling = {.restart_cuts_dpu_power = true}},
    Exception{.vendor = "NVIDIA", .model = "dgxh100", .handling = kDgxH100},
    Exception{.vendor = "NVIDIA", .model = "dgx h100", .handling = kDgxH100},
    Exception{.vendor = "NVIDIA",
              .model = "dgxh200",
              .handling = {.password = kDgxPassword, .own_account = "2"}},
    Exception{
        .vendor = "NVIDIA",
        .model = "bluefield",
        .handling = {.update_parameters_type = "application/octet-stream",
                     .password = {.shortest = 12, .longest = 20, .classes = 4, .special = true}}},
    Exception{.vendor = "NVIDIA", .model = "gh200", .handling = {.names_no_targets = true}},
    Exception{.vendor = "NVIDIA", .model = "gb200", .handling = {.names_no_targets = true}},
    Exception{.vendor = "NVIDIA", .model = "gb300", .handling = {.names_no_targets = true}},
    Exception{.vendor = "Dell",
              .model = "r650",
              .from = "5.10.10.05",
              .before = "5.10.10.06",
              .handling = {.may_ignore_power_on = true}},
};

bool holds(const std::string& text, std::string_view sign) {
  return !sign.empty() && lower_case(text).find(sign) != std::string::npos;
}

struct Sourced {
  std::string manufacturer, vendor;
  std::vector<std::string> oem_keys, models;
};

Sourced reported_by(const VendorHints& signs) {
  Sourced reported;
  for (const auto* one : {signs.root, signs.system, signs.manager}) {
    if (one == nullptr) continue;
    if (auto model = text_at(*one, "Model")) reported.models.push_back(std::move(*model));
    const auto* oem = find(*one, "Oem");
    if (oem == nullptr || !oem->is_object()) continue;
    for (const auto& entry : oem->get_object()) reported.oem_keys.emplace_back(entry.key());
  }
  if (signs.system != nullptr)
    reported.manufacturer = text_at(*signs.system, "Manufacturer").value_or("");
  if (signs.root != nullptr) reported.vendor = text_at(*signs.root, "Vendor").value_or("");
  return reported;
}

// Who built the machine counts more than who wrote its BMC's software: a DGX H100's root says AMI.
int fit(const Rules& rules, const Sourced& reported) {
  int points = 0;
  if (holds(reported.manufacturer, rules.system_manufacturer)) points += 8;
  const auto is_vendor = [&](std::string_view sign) { return holds(reported.vendor, sign); };
  if (std::ranges::any_of(split(rules.root_vendor, '|'), is_vendor)) points += 3;
  const auto is_ours = [&](const std::string& key) { return lower_case(key) == rules.oem_key; };
  if (std::ranges::any_of(reported.oem_keys, is_ours)) points += 2;
  const auto fits = [&](const std::string& model) { return holds(model, rules.model); };
  if (std::ranges::any_of(reported.models, fits)) points += 1;
  return points;
}

/// "5.9.1" before "5.10.0", part by part; what is no number counts as 0.
bool is_older(std::string_view left, std::string_view right) {
  const auto ours = split(left, '.'), theirs = split(right, '.');
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const auto a = i < ours.size() ? number<unsigned>(ours[i]).value_or(0) : 0;
    const auto b = i < theirs.size() ? number<unsigned>(theirs[i]).value_or(0) : 0;
    if (a != b) return a < b;
  }
  return false;
}

bool concerns(const Exception& one, std::string_view vendor, const std::string& model,
              std::string_view firmware) {
  if (one.vendor != vendor || !holds(model, one.model)) return false;
  if (one.from.empty() && one.before.empty()) return true;
  if (firmware.empty()) return false;
  return !is_older(firmware, one.from) && (one.before.empty() || is_older(firmware, one.before));
}

}  // namespace

bool breaks_kept_connections(const Rules& rules, const json::value& root) {
  if (rules.break_kept_connections.empty()) return false;
  // Oem.Hpe.Manager is an array of one.
  const auto* managers = find(root, "Oem/Hpe/Manager");
  const auto* list = managers == nullptr ? nullptr : managers->if_array();
  const auto type = list == nullptr || list->empty() ? std::optional<std::string>{}
                                                     : text_at(list->front(), "ManagerType");
  return type && std::ranges::find(rules.break_kept_connections, *type) !=
                     rules.break_kept_connections.end();
}

ModelQuirks handling_for(std::string_view vendor, std::string_view model,
                         std::string_view firmware) {
  ModelQuirks all;
  for (const auto& one : kExceptions) {
    if (!concerns(one, vendor, std::string{model}, firmware)) continue;
    all.restart_is_off_on |= one.handling.restart_is_off_on;
    all.restart_cuts_dpu_power |= one.handling.restart_cuts_dpu_power;
    all.may_ignore_power_on |= one.handling.may_ignore_power_on;
    all.names_no_targets |= one.handling.names_no_targets;
    if (!one.handling.update_parameters_type.empty())
      all.update_parameters_type = one.handling.update_parameters_type;
    if (one.handling.password.longest > 0) all.password = one.handling.password;
    if (!one.handling.own_account.empty()) all.own_account = one.handling.own_account;
  }
  return all;
}

const UpdateRules& update_rules_of(const Rules& rules, const json::value& update_service) {
  static constexpr UpdateRules kStandard{};
  const auto fits = [&](const UpdateRules& row) {
    return row.sign.empty() || find(update_service, row.sign) != nullptr;
  };
  const auto row = std::ranges::find_if(rules.updates, fits);
  return row == rules.updates.end() ? kStandard : *row;
}

std::string_view text_for(std::span<const OfComponent> rows, std::string_view component) {
  const auto fits = [&](const OfComponent& row) {
    return row.component.empty() || row.component == component;
  };
  const auto row = std::ranges::find_if(rows, fits);
  return row == rows.end() ? std::string_view{} : row->text;
}

bool is_slow(const Rules& rules, std::string_view uri) {
  return std::ranges::any_of(rules.slow_resources,
                             [&](auto part) { return normal(uri).ends_with(part); });
}

const Rules& rules_for(const VendorHints& signs) {
  const Sourced reported = reported_by(signs);
  const Rules* best = &kNobody;
  int most = 0;
  for (const auto& rules : kRules) {
    const int points = fit(rules, reported);
    if (points > most) best = &rules;
    most = std::max(most, points);
  }
  return *best;
}

}  // namespace cupel::bmc::redfish
