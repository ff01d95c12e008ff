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

/// `version` is what the machine or its manager reports. Some report it in the list alone: a Cray
/// EX its BMC's as "BMC", NVIDIA's Grace its BIOS's as "UEFI".
void add_own_version(Survey& survey, const char* name, std::string& version, std::string source,
                     std::string_view listed_as, const std::vector<Document>& listed) {
  const auto own =
      std::ranges::find(listed, listed_as, [](const Document& one) { return last_name(one.uri); });
  if (version.empty() && own != listed.end()) {
    version = reported(own->body, "Version");
    source = own->uri;
  }
  add_version(survey, name, version, source);
}

void add_member(Survey& survey, const Document& member) {
  if (member.body.is_null()) return;
  Part part = part_of(PartKind::firmware, std::string{last_name(member.uri)}, member);
  if (const auto id = reported(member.body, "Id"); !id.empty()) part.name = id;
  part.firmware = reported(member.body, "Version");
  // What people know it by where the Id is a number (HPE: "System ROM").
  if (auto name = reported(member.body, "Name"); name != part.name) part.model = std::move(name);
  part.slot.clear();
  if (part.firmware.empty()) return survey.unknown("version of " + part.name, member.uri, "absent");
  if (is_absent(member.body)) return;
  // "no valid golden_image_arm!!!!" (BlueField)
  if (canonical_version(part.firmware).empty())
    return survey.unknown("version of " + part.name, member.uri, "reported as " + part.firmware);
  survey.add(std::move(part));
}

/// "GPU_SXM_1" of "HGX_FW_GPU_SXM_1"; as it is where it does not begin so.
std::string_view component_of(std::string_view id) {
  for (const std::string_view prefix : {"HGX_FW_", "FW_"})
    if (id.starts_with(prefix)) return id.substr(prefix.size());
  return id;
}

/// "CX8_" of "CX8_3".
std::string_view stem_of(std::string_view component) {
  return component.substr(0, component.find_last_not_of("0123456789") + 1);
}

/// "CX7_0" of "IO_Board_0_CX7_0", where `stem` is "CX7_"; empty where it does not end so.
std::string_view ending_of(std::string_view name, std::string_view stem) {
  const auto at = name.rfind(stem);
  const bool whole = at != name.npos && (at == 0 || name[at - 1] == '_');
  return whole && stem_of(name).size() == at + stem.size() ? name.substr(at) : std::string_view{};
}

bool has_versions(const Part& part) {
  using enum PartKind;
  return part.kind == gpu || part.kind == hca || part.kind == nic || part.kind == dpu ||
         part.kind == switch_chip || part.kind == nvme || part.kind == drive || part.kind == psu;
}

/// The parts that a version is reported to be of. Source: DSP0268, SoftwareInventory.RelatedItem.
std::vector<Part*> related_to(std::vector<Part>& parts, const Document& version,
                              const PcieClaims& claims) {
  std::vector<Part*> found;
  const auto items = links_at(version.body, "RelatedItem");
  for (auto& part : parts) {
    const auto is_it = [&](const std::string& item) {
      const auto claimants = claims.claimants(item);
      return item == part.source || (claimants.size() == 1 && claimants.front() == part.source);
    };
    if (has_versions(part) && std::ranges::any_of(items, is_it)) found.push_back(&part);
  }
  return found;
}

/// The part that has the component's Id, or ends in it where the list and the parts have as many of
/// the kind: where they do not, it could be another one's (GB200: a CX7_0 on each of two boards).
Part* named_by(std::vector<Part>& parts, std::string_view component,
               const std::vector<Document>& listed) {
  const auto stem = stem_of(component);
  if (stem.empty() || stem.size() == component.size()) return nullptr;
  Part* found = nullptr;
  std::ptrdiff_t alike = 0, same = 0;
  for (auto& part : parts) {
    const auto name = last_name(part.source);
    if (!has_versions(part)) continue;
    if (name == component) return &part;
    const auto ending = ending_of(name, stem);
    alike += ending.empty() ? 0 : 1;
    same += ending == component ? 1 : 0;
    if (ending == component) found = &part;
  }
  const auto family = std::ranges::count_if(listed, [&](const Document& one) {
    return stem_of(component_of(last_name(one.uri))) == stem;
  });
  return same == 1 && alike == family ? found : nullptr;
}

}  // namespace

Task<std::vector<Document>> read_firmware(Survey& survey, const Machine& machine) {
  auto& identity = survey.seen().identity;
  auto uri = link_at(machine.root, "UpdateService");
  if (uri.empty()) uri = "/redfish/v1/UpdateService";
  const auto service = co_await survey.read(uri, "firmware");
  const auto collection = service ? link_at(service->body, "FirmwareInventory") : std::string{};
  // It may be lost: what stands in its place need not have all of it.
  const auto software = service ? link_at(service->body, "SoftwareInventory") : std::string{};
  if (service && collection.empty())
    survey.unknown("firmware", uri,
                   software.empty() ? "no FirmwareInventory"
                                    : "no FirmwareInventory: SoftwareInventory is read");
  auto members = co_await survey.members(collection, "firmware", kNotInstalled);
  // Some list all versions as software (Intel S2600BPB: ME, SDR; Google).
  if (members.empty()) members = co_await survey.members(software, "firmware", kNotInstalled);
  add_own_version(survey, "bios", identity.bios_version, machine.system.uri, "UEFI", members);
  if (machine.manager)
    add_own_version(survey, "bmc", identity.bmc_version, machine.manager->uri, "BMC", members);
  for (const auto& member : members) add_member(survey, member);
  co_return members;
}

void give_versions(Survey& survey, const std::vector<Document>& listed, const PcieClaims& claims) {
  auto& parts = survey.seen().parts;
  for (const auto& one : listed) {
    const auto version = reported(one.body, "Version");
    if (canonical_version(version).empty() || is_absent(one.body)) continue;
    auto of = related_to(parts, one, claims);
    if (of.empty()) of.push_back(named_by(parts, component_of(last_name(one.uri)), listed));
    for (auto* part : of)
      if (part != nullptr && part->firmware.empty()) part->firmware = version;
  }
}

}  // namespace cupel::bmc::redfish
