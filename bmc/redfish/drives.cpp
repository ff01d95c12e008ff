// Drives, from Storage, or from SimpleStorage where Storage is an empty shell (DGX H100). NVMe and
// others share one count.
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

void add_drive(Survey& survey, const Document& drive, std::size_t number, PcieClaims& claims) {
  if (drive.body.is_null() || is_absent(drive.body)) return;
  // The BMC's own virtual media (AMI: "Virtual Cdrom Device").
  if (told(drive.body, "Model").starts_with("Virtual ")) return;
  const bool nvme = is_nvme(drive);
  if (!nvme && told(drive.body, "Protocol").empty())
    survey.unknown("kind of drive" + std::to_string(number), drive.uri, "no Protocol");
  Part part = part_of(nvme ? PartKind::nvme : PartKind::drive,
                      (nvme ? "nvme" : "drive") + std::to_string(number), drive);
  part.size_bytes = number_at(drive.body, "CapacityBytes");
  if (part.firmware.empty()) part.firmware = told(drive.body, "Revision");
  if (part.slot.empty()) part.slot = told(drive.body, "Id");
  if (part.slot.empty()) part.slot = told(drive.body, "Name");
  // A bay that says nothing but its number (SimpleStorage of an empty port).
  if (part.model.empty() && part.serial.empty() && !part.size_bytes)
    return survey.unknown(part.name, part.source, "nothing told of it");
  for (const auto& function : links_at(drive.body, "Links/PCIeFunctions"))
    claims.claim(function, part.source);
  survey.add(std::move(part));
}

/// Nobody knows how many drives it has.
void note_numbers(Survey& survey, const Document& storage) {
  survey.unknown("numbers of the drives after " + std::string{last_name(storage.uri)}, storage.uri,
                 "it could not be read");
}

/// Drives is an array of links, or a link to a collection.
Task<std::vector<Document>> drives_of(Survey& survey, const Document& storage) {
  const auto collection = link_at(storage.body, "Drives");
  if (!collection.empty()) co_return co_await survey.members(collection, "drive");
  auto uris = links_at(storage.body, "Drives");
  const auto* list = find(storage.body, "Drives");
  if ((list == nullptr || !list->is_array()) && !storage.body.is_null())
    survey.unknown("drives", storage.uri, "lists no Drives");
  co_return co_await survey.read_all(std::move(uris), "drive");
}

Task<std::vector<Document>> simple_drives(Survey& survey, const Machine& machine) {
  const auto collection = survey.link(machine.system, "SimpleStorage");
  const auto controllers = co_await survey.members(collection, "storage controller");
  std::vector<Document> drives;
  for (const auto& controller : controllers) {
    if (controller.body.is_null()) {
      note_numbers(survey, controller);
      continue;
    }
    auto rows = rows_of(survey, controller, "Devices", "drives");
    drives.insert(drives.end(), std::make_move_iterator(rows.begin()),
                  std::make_move_iterator(rows.end()));
  }
  co_return drives;
}

}  // namespace

Task<void> read_drives(Survey& survey, const Machine& machine, PcieClaims& claims) {
  const auto collection = survey.link(machine.system, "Storage");
  if (collection.empty() && survey.link(machine.system, "SimpleStorage").empty())
    survey.unknown("drives", machine.system.uri, "no Storage");
  const auto storages = co_await survey.members(collection, "storage");
  std::vector<Document> drives;
  for (const auto& storage : storages) {
    if (storage.body.is_null()) note_numbers(survey, storage);
    auto found = co_await drives_of(survey, storage);
    drives.insert(drives.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  if (drives.empty()) drives = co_await simple_drives(survey, machine);
  std::ranges::stable_sort(drives, [](const Document& left, const Document& right) {
    return natural_less(left.uri, right.uri);
  });
  std::size_t number = 0;
  for (const auto& drive : drives) add_drive(survey, drive, number++, claims);
}

}  // namespace cupel::bmc::redfish
