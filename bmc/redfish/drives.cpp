// Drives, from Storage, or from SimpleStorage where Storage is an empty shell (DGX H100). NVMe and
// others have a count each.
#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

bool is_nvme(const Document& drive) {
  const auto protocol = reported(drive.body, "Protocol");
  if (protocol == "PCIe") return reported(drive.body, "MediaType") == "SSD";  // Dell
  if (!protocol.empty()) return protocol == "NVMe";
  const auto text =
      lower_case(drive.uri + " " + reported(drive.body, "Name") + " " +
                 reported(drive.body, "Model") + " " + reported(drive.body, "Description"));
  return text.find("nvme") != std::string::npos;
}

/// An empty bay says what would be in it; one that could not be read is of the kind of the one
/// before it, else of the one after it.
bool is_nvme_bay(const std::vector<Document>& bays, std::size_t at) {
  if (!bays[at].body.is_null()) return is_nvme(bays[at]);
  for (std::size_t i = at; i-- > 0;)
    if (!bays[i].body.is_null()) return is_nvme(bays[i]);
  for (std::size_t i = at + 1; i < bays.size(); ++i)
    if (!bays[i].body.is_null()) return is_nvme(bays[i]);
  return is_nvme(bays[at]);
}

void add_drive(Survey& survey, const Document& drive, bool nvme, std::size_t number,
               PcieClaims& claims) {
  if (drive.body.is_null() || is_absent(drive.body)) return;
  if (!nvme && reported(drive.body, "Protocol").empty())
    survey.unknown("kind of drive" + std::to_string(number), drive.uri, "no Protocol");
  Part part = part_of(nvme ? PartKind::nvme : PartKind::drive,
                      (nvme ? "nvme" : "drive") + std::to_string(number), drive);
  part.size_bytes = number_at(drive.body, "CapacityBytes");
  if (part.firmware.empty()) part.firmware = reported(drive.body, "Revision");
  if (part.slot.empty()) part.slot = reported(drive.body, "Id");
  if (part.slot.empty()) part.slot = reported(drive.body, "Name");
  // A bay that says nothing but its number (SimpleStorage of an empty port).
  if (part.model.empty() && part.serial.empty() && !part.size_bytes) {
    survey.not_whole(part.source, "it reports nothing but its number");
    return survey.unknown(part.name, part.source, "not reported");
  }
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
  if ((list == nullptr || !list->is_array()) && !storage.body.is_null()) {
    survey.not_whole(storage.uri, "lists no Drives");
    survey.unknown("drives", storage.uri, "lists no Drives");
  }
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

/// The storages, where the System's link leads nowhere also where the standard has them (an Inspur
/// links to Storages): what a wrong link costs is noted by then.
Task<std::vector<Document>> read_storages(Survey& survey, const Machine& machine) {
  auto link = survey.link(machine.system, "Storage");
  if (link.empty()) link = survey.link(machine.system, "Storages");
  auto storages = co_await survey.members(link, "storage");
  if (!storages.empty() || link.empty()) co_return storages;
  for (const auto* name : {"/Storage", "/Storages"}) {
    const auto uri = normal(machine.system.uri) + name;
    if (uri == normal(link)) continue;
    const auto there = co_await survey.need(uri);
    if (there) co_return co_await survey.members(uri, "storage");
  }
  co_return storages;
}

}  // namespace

Task<void> read_drives(Survey& survey, const Machine& machine, PcieClaims& claims) {
  constexpr std::array kDrives{PartKind::nvme, PartKind::drive};
  survey.lists(kDrives);
  bool has_link = false;
  for (const auto* name : {"Storage", "Storages", "SimpleStorage"})
    has_link = has_link || !survey.link(machine.system, name).empty();
  if (!has_link) survey.unknown("drives", machine.system.uri, "no Storage");
  const auto storages = co_await read_storages(survey, machine);
  std::vector<Document> drives;
  for (const auto& storage : storages) {
    if (storage.body.is_null()) note_numbers(survey, storage);
    auto found = co_await drives_of(survey, storage);
    drives.insert(drives.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  if (drives.empty()) drives = co_await simple_drives(survey, machine);
  // The BMC's own virtual media (AMI: "Virtual Cdrom Device") are nobody's bays.
  std::erase_if(drives, [](const Document& drive) {
    return reported(drive.body, "Model").starts_with("Virtual ");
  });
  std::ranges::stable_sort(drives, [](const Document& left, const Document& right) {
    return natural_less(left.uri, right.uri);
  });
  std::size_t nvmes = 0, others = 0;
  for (std::size_t i = 0; i < drives.size(); ++i) {
    const bool nvme = is_nvme_bay(drives, i);
    if (drives[i].body.is_null())
      survey.unknown("numbers of the drives after " + std::string{last_name(drives[i].uri)},
                     drives[i].uri, "it could not be read");
    add_drive(survey, drives[i], nvme, nvme ? nvmes++ : others++, claims);
  }
}

}  // namespace cupel::bmc::redfish
