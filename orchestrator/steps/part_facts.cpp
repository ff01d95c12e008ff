#include "orchestrator/steps/part_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "inventory/parts.h"
#include "inventory/pci_address.h"

namespace cupel::steps {
namespace {

using inventory::PartKind;

constexpr std::size_t kMostFacts = 64, kLongest = 120;

/// "CPLDMB_0"; of Dell's "Installed-27763-1.1.2__CPLD.Embedded.1" without the version. HPE's ids
/// are numbers, and its name says what it is: "System Programmable Logic Device".
std::string cpld_name(const inventory::Part& part) {
  if (lower_case(part.name).contains("cpld")) {
    const auto head = part.name.rfind("__");
    return head == std::string::npos ? part.name : part.name.substr(head + 2);
  }
  const bool by_model = lower_case(part.model).contains("programmable logic");
  return by_model ? part.model : std::string{};
}

/// What is compared with what: "driver", "gpu NVIDIA H100 80GB HBM3", "hca MT4129 MT_0000000838".
std::string compared_as(const inventory::Part& part) {
  constexpr std::array<std::string_view, 3> kFirmware{"driver", "bios", "kernel"};
  const auto kind = std::string{to_string(part.kind)};
  if (part.kind == PartKind::firmware) {
    if (const auto cpld = cpld_name(part); !cpld.empty()) return "cpld " + cpld;
    return std::ranges::find(kFirmware, part.name) == kFirmware.end() ? std::string{} : part.name;
  }
  // Which module it is: of DIMMs of one size the part number is what should be the same.
  if (part.kind == PartKind::dimm && part.size_bytes)
    return fmt::format("{} of {:.0f} GiB", kind, *part.size_bytes / 1073741824);
  if (part.model.empty()) return {};
  if (part.kind == PartKind::gpu || part.kind == PartKind::nvme || part.kind == PartKind::psu)
    return kind + " " + part.model;
  if (part.kind == PartKind::hca) return kind + " " + part.model + " " + part.part_number;
  return {};
}

const std::string& version_of(const inventory::Part& part) {
  return part.kind == PartKind::dimm ? part.part_number : part.firmware;
}

/// Kinds whose place on the PCIe tree should be the same on all machines.
bool has_place(const inventory::Part& part) {
  constexpr std::array kPlaced{PartKind::gpu, PartKind::hca, PartKind::nvme};
  return std::ranges::find(kPlaced, part.kind) != kPlaced.end() && part.name.size() <= kLongest;
}

/// "0000:18:00.0 MT4129"; of a CPU its socket, "cpu1". Empty where nothing says which it is, and of
/// what several makers deliver for one order: drives, DIMMs, supplies.
std::string model_at_place(const inventory::Part& part) {
  constexpr std::array kKinds{PartKind::gpu, PartKind::hca, PartKind::nic, PartKind::cpu};
  const bool is_compared = std::ranges::find(kKinds, part.kind) != kKinds.end();
  if (!is_compared || part.model.empty() || part.model.size() > kLongest) return {};
  if (part.name.size() > kLongest) return {};
  const auto place =
      part.kind == PartKind::cpu ? std::optional{part.name} : inventory::written_pci(part.slot);
  return place && !place->contains(' ') ? *place + " " + part.model : std::string{};
}

/// By the fact's name: of each part where it sits, which model it is, how large.
std::map<std::string, json::object> places_of(std::span<const inventory::Part> parts) {
  std::map<std::string, json::object> places;
  const auto put = [&](const std::string& fact, const inventory::Part& part,
                       const std::string& text) {
    auto& of_kind = places[fact];
    if (of_kind.size() < kMostPartsOfFact) of_kind[part.name] = text;
  };
  for (const auto& part : parts) {
    const std::string kind{to_string(part.kind)};
    if (const auto model = model_at_place(part); !model.empty())
      put(std::string{kModelPrefix} + kind, part, model);
    // nvidia-smi, the kernel and the BMC write one address in different ways.
    const auto place = has_place(part) ? inventory::written_pci(part.slot) : std::nullopt;
    if (!place) continue;
    if (part.kind == PartKind::nvme && part.size_bytes)
      put(std::string{kDriveSizes}, part,
          fmt::format("{} {:.3g} TB", *place, *part.size_bytes / 1e12));
    put(std::string{kPlacePrefix} + kind, part, *place);
  }
  return places;
}

}  // namespace

json::object setting_facts(std::span<const burnin::Measurement> measurements) {
  json::object facts;
  double fastest = 0;
  for (const auto& each : measurements)
    if (each.name == kMemoryRate)
      fastest = std::max(fastest, each.value);
    else if (each.part.empty() &&
             std::ranges::find(kSeenSettings, each.name) != kSeenSettings.end())
      facts[each.name] = plain(each.value);
  if (fastest > 0) facts[kMemoryRate] = plain(fastest);
  return facts;
}

json::object version_facts(std::span<const inventory::Part> parts) {
  std::map<std::string, std::map<std::string, std::vector<std::string>, std::less<>>, std::less<>>
      found;
  for (const auto& part : parts) {
    const auto key = compared_as(part);
    const auto& version = version_of(part);
    const bool known =
        !key.empty() && !version.empty() && version.size() <= kLongest && key.size() <= kLongest;
    if (!known || (!found.contains(key) && found.size() == kMostFacts)) continue;
    auto& names = found[key][version];
    if (names.size() < kMostPartsOfFact) names.push_back(part.name);
  }
  json::object facts;
  for (const auto& [key, versions] : found) {
    json::object text;
    for (const auto& [version, names] : versions)
      text[version] = json::array(names.begin(), names.end());
    facts[std::string{kVersionPrefix} + key] = json::serialize(text);
  }
  for (const auto& [name, of_kind] : places_of(parts)) facts[name] = json::serialize(of_kind);
  return facts;
}

}  // namespace cupel::steps
