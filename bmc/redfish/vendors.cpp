#include "bmc/redfish/vendors.h"

#include <array>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

// A GET of a root of trust may hang (BlueField-3), and its firmware is in the firmware inventory.
constexpr std::array<std::string_view, 2> kRootsOfTrust{"ERoT", "IRoT"};
constexpr std::array<std::string_view, 3> kRootsOfTrustDgx{"ERoT", "IRoT", "EROT"};
constexpr std::array<std::string_view, 1> kFirmware{"/FirmwareInventory"};

// In the order of preference where two fit equally well. `expands` where the vendor documents it
// and nobody has seen required properties go; AMI's and old OpenBMC's drop them.
constexpr std::array kRules{
    Rules{.vendor = "NVIDIA",
          .system_manufacturer = "nvidia",
          .root_vendor = "nvidia",
          .oem_key = "nvidia",
          .model = "bluefield",
          .idle_chassis = kRootsOfTrustDgx,
          .slow_resources = kFirmware},
    Rules{.vendor = "Dell",
          .system_manufacturer = "dell",
          .root_vendor = "dell",
          .oem_key = "dell",
          .model = "poweredge",
          .serial_is_sku = true,
          .expands = true},
    Rules{.vendor = "HPE",
          .system_manufacturer = "hpe",
          .root_vendor = "hpe",
          .oem_key = "hpe",
          .model = "ilo",
          .device_list = "Oem/Hpe/Links/Devices",
          .expands = true},
    Rules{.vendor = "Lenovo",
          .system_manufacturer = "lenovo",
          .root_vendor = "lenovo",
          .oem_key = "lenovo",
          .model = "xclarity"},
    Rules{.vendor = "Supermicro",
          .system_manufacturer = "supermicro",
          .root_vendor = "supermicro",
          .oem_key = "supermicro",
          .model = "sys-",
          .dummy_psu = "PWS-DF",
          .idle_chassis = kRootsOfTrust},
    Rules{.vendor = "GIGABYTE",
          .system_manufacturer = "gigabyte",
          .root_vendor = "gigabyte",
          .oem_key = "gbt"},
    Rules{.vendor = "AMI", .root_vendor = "ami", .oem_key = "ami"},
    Rules{.vendor = "OpenBMC", .oem_key = "openbmc", .model = "openbmc"},
};
constexpr Rules kNobody{};

bool holds(const std::string& text, std::string_view sign) {
  return !sign.empty() && lower_case(text).find(sign) != std::string::npos;
}

struct Told {
  std::string manufacturer, vendor;
  std::vector<std::string> oem_keys, models;
};

Told told_by(const Signs& signs) {
  Told told;
  for (const auto* one : {signs.root, signs.system, signs.manager}) {
    if (one == nullptr) continue;
    if (auto model = text_at(*one, "Model")) told.models.push_back(std::move(*model));
    const auto* oem = find(*one, "Oem");
    if (oem == nullptr || !oem->is_object()) continue;
    for (const auto& entry : oem->get_object()) told.oem_keys.emplace_back(entry.key());
  }
  if (signs.system != nullptr)
    told.manufacturer = text_at(*signs.system, "Manufacturer").value_or("");
  if (signs.root != nullptr) told.vendor = text_at(*signs.root, "Vendor").value_or("");
  return told;
}

// Who built the machine counts more than who wrote its BMC's software: a DGX H100's root says AMI.
int fit(const Rules& rules, const Told& told) {
  int points = 0;
  if (holds(told.manufacturer, rules.system_manufacturer)) points += 8;
  if (holds(told.vendor, rules.root_vendor)) points += 3;
  const auto is_ours = [&](const std::string& key) { return lower_case(key) == rules.oem_key; };
  if (std::ranges::any_of(told.oem_keys, is_ours)) points += 2;
  const auto fits = [&](const std::string& model) { return holds(model, rules.model); };
  if (std::ranges::any_of(told.models, fits)) points += 1;
  return points;
}

}  // namespace

bool is_slow(const Rules& rules, std::string_view uri) {
  return std::ranges::any_of(rules.slow_resources,
                             [&](auto part) { return uri.find(part) != uri.npos; });
}

const Rules& rules_for(const Signs& signs) {
  const Told told = told_by(signs);
  const Rules* best = &kNobody;
  int most = 0;
  for (const auto& rules : kRules) {
    const int points = fit(rules, told);
    if (points > most) best = &rules;
    most = std::max(most, points);
  }
  return *best;
}

}  // namespace cupel::bmc::redfish
