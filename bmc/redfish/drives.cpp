// NVMe drives, from Storage, or from SimpleStorage where Storage is an empty shell (DGX H100).
// SATA, SAS and USB drives are no parts that Cupel knows.
#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

bool is_nvme(const Document& drive) {
  const auto protocol = told(drive.body, "Protocol");
  if (protocol == "PCIe") return told(drive.body, "MediaType") == "SSD";  // Dell
  if (!protocol.empty()) return protocol == "NVMe";
  const auto text = lower_case(drive.uri + " " + told(drive.body, "Name") + " " +
                               told(drive.body, "Model") + " " + told(drive.body, "Description"));
  return text.find("nvme") != std::string::npos;
}

void add_drives(Survey& survey, const std::vector<Document>& drives, std::size_t& number) {
  for (const auto& drive : drives) {
    if (!is_nvme(drive)) continue;
    const auto mine = number++;
    if (is_absent(drive.body)) continue;
    Part part = part_of(PartKind::nvme, "nvme" + std::to_string(mine), drive);
    part.size_bytes = number_at(drive.body, "CapacityBytes");
    if (part.firmware.empty()) part.firmware = told(drive.body, "Revision");
    if (part.slot.empty()) part.slot = told(drive.body, "Id");
    if (part.slot.empty()) part.slot = told(drive.body, "Name");
    survey.add(std::move(part));
  }
}

/// Drives is an array of links, or a link to a collection.
Task<std::vector<Document>> drives_of(Survey& survey, const Document& storage) {
  const auto collection = link_at(storage.body, "Drives");
  if (!collection.empty()) co_return co_await survey.members(collection, "drive");
  auto uris = links_at(storage.body, "Drives");
  co_return co_await survey.read_all(std::move(uris), "drive");
}

Task<std::vector<Document>> simple_drives(Survey& survey, const Machine& machine) {
  const auto collection = link_at(machine.system.body, "SimpleStorage");
  const auto controllers = co_await survey.members(collection, "storage controller");
  std::vector<Document> drives;
  for (const auto& controller : controllers) {
    const auto* list = find(controller.body, "Devices");
    if (list == nullptr || !list->is_array()) continue;
    std::size_t index = 0;
    for (const auto& device : list->get_array())
      drives.push_back({controller.uri + "#/Devices/" + std::to_string(index++), device});
  }
  co_return drives;
}

}  // namespace

Task<void> read_drives(Survey& survey, const Machine& machine) {
  const auto collection = link_at(machine.system.body, "Storage");
  const auto storages = co_await survey.members(collection, "storage");
  std::vector<Document> drives;
  for (const auto& storage : storages) {
    auto found = co_await drives_of(survey, storage);
    drives.insert(drives.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  if (drives.empty()) drives = co_await simple_drives(survey, machine);
  std::ranges::stable_sort(drives, [](const Document& left, const Document& right) {
    return natural_less(left.uri, right.uri);
  });
  std::size_t number = 0;
  add_drives(survey, drives, number);
}

}  // namespace cupel::bmc::redfish
