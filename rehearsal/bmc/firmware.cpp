#include "rehearsal/bmc/firmware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

/// Components of a profile that are software of the host, or stand for many parts at once.
constexpr std::array<std::string_view, 7> kOfTheHost{"driver", "gpu", "vbios", "hca",
                                                     "psu",    "os",  "nvme"};

/// Its version is only reported to the host.
bool is_of_the_host(const Hardware& hardware, const std::string& name) {
  return std::ranges::find(kOfTheHost, std::string_view{name}) != kOfTheHost.end() ||
         std::ranges::find(hardware.adapters, name, &Adapter::name) != hardware.adapters.end() ||
         std::ranges::find(hardware.drives, name, &Drive::name) != hardware.drives.end();
}

FirmwareKind kind_of(std::string_view name) {
  if (name == "HostBMC_0") return FirmwareKind::bmc;
  if (name == "HostBIOS_0") return FirmwareKind::bios;
  return name.starts_with("CPLD") ? FirmwareKind::cpld : FirmwareKind::other;
}

void add_boards(std::vector<Component>& all, const Hardware& hardware,
                std::span<const BoardPart> boards) {
  for (const auto& part : boards)
    for (int i = 0; i < part.count; ++i) {
      const auto name = filled_id(part.name, "", part.first + i);
      all.push_back({name, kind_of(name), i, hardware.version(name, std::string{part.version})});
    }
}

}  // namespace

std::vector<Component> components_of(const Hardware& hardware, std::string_view bmc_version,
                                     std::span<const BoardPart> boards) {
  const std::string usual{bmc_version.empty() ? "23.11.21" : bmc_version};
  std::vector<Component> all{
      {"HostBMC_0", FirmwareKind::bmc, 0, hardware.version("HostBMC_0", usual)},
      {"HostBIOS_0", FirmwareKind::bios, 0, hardware.version("HostBIOS_0", "01.01.03")},
      {"CPLDMB_0", FirmwareKind::cpld, 0, hardware.version("CPLDMB_0", "0.2.1.9")}};
  for (const auto& gpu : hardware.gpus)
    all.push_back(
        {fmt::format("HGX_FW_GPU_SXM_{}", gpu.index + 1), FirmwareKind::gpu, gpu.index, gpu.vbios});
  for (const auto& psu : hardware.psus) {
    const auto number = psu.name.substr(3);
    all.push_back({"PSU_" + number, FirmwareKind::psu, std::stoi(number), psu.firmware});
  }
  if (!hardware.gpus.empty()) add_boards(all, hardware, boards);
  for (const auto& [name, version] : hardware.firmware) {
    if (is_of_the_host(hardware, name)) continue;
    if (std::ranges::find(all, name, &Component::name) != all.end()) continue;
    all.push_back({name, kind_of(name), 0, version});
  }
  std::ranges::sort(all, {}, &Component::name);
  return all;
}

std::string filled_id(std::string_view form, std::string_view version, int number) {
  std::string id{form};
  if (const auto at = id.find("{v}"); at != id.npos) id.replace(at, 3, version);
  if (const auto at = id.find("{n}"); at != id.npos) id.replace(at, 3, std::to_string(number));
  return id;
}

std::string id_of(const FirmwareNames& names, const Component& component) {
  const auto id = [&](std::string_view form, int first) {
    return filled_id(form, component.version, component.number + first);
  };
  switch (component.kind) {
    case FirmwareKind::bmc:
      return id(names.bmc, 0);
    case FirmwareKind::bios:
      return id(names.bios, 0);
    case FirmwareKind::cpld:
      return component.name == "CPLDMB_0" ? id(names.cpld, 0) : component.name;
    case FirmwareKind::gpu:
      return id(names.gpu, names.first_gpu);
    case FirmwareKind::psu:
      return id(names.psu, names.first_psu);
    case FirmwareKind::other:
      return component.name;
  }
  return component.name;
}

const Component* component_called(std::span<const Component> all, const FirmwareNames& names,
                                  std::string_view called) {
  for (const auto& one : all)
    if (one.name == called || id_of(names, one) == called) return &one;
  return nullptr;
}

bool is_older(std::string_view one, std::string_view other) {
  const auto numbers = [](std::string_view text) {
    std::vector<long> found;
    for (std::size_t at = 0; at < text.size();) {
      const auto first = text.find_first_of("0123456789", at);
      if (first == text.npos) break;
      at = std::min(text.find_first_not_of("0123456789", first), text.size());
      found.push_back(number<long>(text.substr(first, at - first)).value_or(0));
    }
    return found;
  };
  return numbers(one) < numbers(other);
}

VirtualTime writing_time(const UpdateTimes& times, FirmwareKind kind) {
  if (kind == FirmwareKind::bmc) return times.write_bmc;
  return kind == FirmwareKind::bios ? times.write_bios : times.write_other;
}

Activation activation_of(const UpdateBehavior& behavior, FirmwareKind kind) {
  switch (kind) {
    case FirmwareKind::bmc:
      return behavior.bmc;
    case FirmwareKind::bios:
      return behavior.bios;
    case FirmwareKind::cpld:
      return behavior.cpld;
    case FirmwareKind::gpu:
    case FirmwareKind::other:
      return behavior.gpu;
    case FirmwareKind::psu:
      return behavior.psu;
  }
  return behavior.gpu;
}

}  // namespace cupel::rehearsal
