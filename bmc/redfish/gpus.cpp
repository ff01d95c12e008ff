// GPUs that are no Processors: PCIe devices called GPU1 to GPU8 (Supermicro), or devices in a list
// outside of the standard (HPE iLO 5).
#include <array>
#include <numeric>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

bool by_name(const std::string& left, const std::string& right) {
  return natural_less(last_name(left), last_name(right));
}

/// "GPU3", not "GPU_Baseboard".
bool is_gpu_name(std::string_view name) {
  return name.starts_with("GPU") && name.size() > 3 &&
         name.find_first_not_of("0123456789", 3) == name.npos;
}

void add_gpu(Survey& survey, const Document& device, std::size_t number) {
  if (device.body.is_null() || is_absent(device.body)) return;
  Part gpu = part_of(PartKind::gpu, "gpu" + std::to_string(number), device);
  if (gpu.model.empty()) gpu.model = reported(device.body, "Name");
  if (gpu.firmware.empty())
    gpu.firmware = reported(device.body, "FirmwareVersion/Current/VersionString");
  if (gpu.manufacturer.empty())
    gpu.manufacturer = reported(device.body, "Oem/Supermicro/GPUVendor");
  if (gpu.slot.empty()) gpu.slot = last_name(device.uri);
  if (const auto* reported_interface = find(device.body, "PCIeInterface"))
    gpu.pcie = pcie_link(*reported_interface);
  survey.add(std::move(gpu));
}

Task<std::vector<Document>> pcie_gpus(Survey& survey, const Document& chassis) {
  const auto collection = survey.link(chassis, "PCIeDevices");
  if (collection.empty()) co_return std::vector<Document>{};
  auto uris = co_await survey.links(collection, "PCIe devices");
  std::erase_if(uris, [](const std::string& uri) { return !is_gpu_name(last_name(uri)); });
  std::ranges::sort(uris, by_name);
  co_return co_await survey.read_all(std::move(uris), "GPU");
}

enum class Seems { gpu, other, unknown };

/// Switches and the baseboard call themselves GPU as well.
Seems seems(const Document& device) {
  const auto type = reported(device.body, "DeviceType");
  if (type.empty()) return Seems::unknown;
  const bool gpu = type == "GPU" &&
                   reported(device.body, "Name").find("Switch") == std::string::npos &&
                   reported(device.body, "Location").find("Baseboard") == std::string::npos;
  return gpu ? Seems::gpu : Seems::other;
}

/// "Empty slot 4" of an iLO 5: a place for any card, and no GPU that is missing.
bool is_empty_slot(const Document& device) {
  return is_absent(device.body) && seems(device) == Seems::unknown;
}

/// One that cannot be identified keeps its number where it stands between two GPUs.
std::vector<Document> gpus_among(Survey& survey, std::vector<Document> devices) {
  std::erase_if(devices, is_empty_slot);
  std::vector<Document> gpus;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto kind = seems(devices[i]);
    if (kind == Seems::other) continue;
    const bool between = i > 0 && i + 1 < devices.size() && seems(devices[i - 1]) == Seems::gpu &&
                         seems(devices[i + 1]) == Seems::gpu;
    if (kind == Seems::unknown) {
      survey.not_whole(devices[i].uri, "the kind of device is not reported", true);
      survey.unknown("kind of device " + std::string{last_name(devices[i].uri)}, devices[i].uri,
                     "absent");
      const auto later = std::span{devices}.subspan(i + 1);
      const auto is_gpu = [](const Document& other) { return seems(other) == Seems::gpu; };
      if (!between && std::ranges::any_of(later, is_gpu))
        survey.unknown("numbers of the GPUs after " + std::string{last_name(devices[i].uri)},
                       devices[i].uri, "its kind is unknown");
    }
    if (kind == Seems::unknown && between) gpus.push_back({devices[i].uri, nullptr});
    if (kind == Seems::gpu) gpus.push_back(devices[i]);
  }
  return gpus;
}

Task<void> gpus_of(Survey& survey, const Document& chassis, const std::vector<Document>& devices,
                   std::vector<Document>& gpus) {
  gpus = co_await pcie_gpus(survey, chassis);
  if (gpus.empty()) gpus = gpus_among(survey, devices);
}

}  // namespace

std::vector<std::size_t> gpu_numbers(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMost = 64;  // of one machine; a larger one numbers something else
  std::vector<std::size_t> places(names.size()), own;
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (const auto name : names) {
    const auto digits = name.find_last_not_of("0123456789") + 1;
    const auto value = number<std::size_t>(name.substr(digits));
    // A mere number counts the CPUs before the GPUs too (HPE).
    const bool same_stem = digits > 0 && name.substr(0, digits) == names[0].substr(0, digits);
    if (!value || *value > kMost || !same_stem) return places;
    if (!own.empty() && *value <= own.back()) return places;
    own.push_back(*value);
  }
  if (!own.empty() && own.front() > 0)
    for (auto& value : own) --value;
  return own;
}

Task<void> read_gpus_elsewhere(Survey& survey, const Machine& machine, const DeviceLists& devices) {
  constexpr std::array kGpus{PartKind::gpu};
  const auto& chassis = *machine.chassis;
  survey.lists(kGpus);
  for (const auto& one : chassis)
    if (one.body.is_null()) survey.not_whole(one.uri, "the chassis could not be read", true);
  std::vector<std::vector<Document>> gpus(chassis.size());
  const auto read = [&](Survey& piece, std::size_t at) {
    return gpus_of(piece, chassis[at], devices[at], gpus[at]);
  };
  co_await read_beside(survey, chassis.size(), read);
  std::vector<const Document*> all;
  std::vector<std::string_view> names;
  for (const auto& some : gpus)
    for (const auto& gpu : some) {
      all.push_back(&gpu);
      names.push_back(last_name(gpu.uri));
    }
  const auto numbers = gpu_numbers(names);
  for (std::size_t i = 0; i < all.size(); ++i) add_gpu(survey, *all[i], numbers[i]);
}

}  // namespace cupel::bmc::redfish
