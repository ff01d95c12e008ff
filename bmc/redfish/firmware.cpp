// Versions: of the BMC and the BIOS under these names, and of whatever the firmware inventory
// lists under the BMC's own.
#include <array>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// Dell lists what could be rolled back to beside what runs, Supermicro and Lenovo what waits.
constexpr std::array<std::string_view, 6> kNotInstalled{"Previous-", "Available-", "Backup_",
                                                        "Golden_",   "Staging_",   "-Pending"};

void add_version(Survey& survey, std::string name, const std::string& version,
                 const std::string& source) {
  if (version.empty()) return survey.unknown("version of " + name, source, "absent");
  Part part{.kind = PartKind::firmware, .name = std::move(name)};
  part.firmware = version;
  part.source = source;
  survey.add(std::move(part));
}

void add_member(Survey& survey, const Document& member) {
  if (member.body.is_null()) return;
  Part part = part_of(PartKind::firmware, std::string{last_name(member.uri)}, member);
  if (const auto id = told(member.body, "Id"); !id.empty()) part.name = id;
  part.firmware = told(member.body, "Version");
  part.slot.clear();
  if (part.firmware.empty()) return survey.unknown("version of " + part.name, member.uri, "absent");
  if (is_absent(member.body)) return;
  // "no valid golden_image_arm!!!!" (BlueField)
  if (canonical_version(part.firmware).empty())
    return survey.unknown("version of " + part.name, member.uri, "reported as " + part.firmware);
  survey.add(std::move(part));
}

}  // namespace

Task<void> read_firmware(Survey& survey, const Machine& machine) {
  const auto& identity = survey.seen().identity;
  add_version(survey, "bios", identity.bios_version, machine.system.uri);
  if (machine.manager) add_version(survey, "bmc", identity.bmc_version, machine.manager->uri);
  auto uri = link_at(machine.root, "UpdateService");
  if (uri.empty()) uri = "/redfish/v1/UpdateService";
  const auto service = co_await survey.read(uri, "firmware");
  if (!service) co_return;
  const auto collection = link_at(service->body, "FirmwareInventory");
  if (collection.empty()) co_return survey.unknown("firmware", uri, "no FirmwareInventory");
  const auto members = co_await survey.members(collection, "firmware", kNotInstalled);
  for (const auto& member : members) add_member(survey, member);
}

}  // namespace cupel::bmc::redfish
