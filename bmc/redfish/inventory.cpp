#include "bmc/redfish/inventory.h"

#include <array>

#include "base/side_by_side.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

void add_system_and_bmc(Survey& survey, const Machine& machine, const Identity& identity) {
  const auto* chassis =
      machine.has_system || !machine.chassis ? nullptr : chassis_of_machine(machine);
  Part system = part_of(PartKind::system, "system", chassis ? *chassis : machine.system);
  system.model = identity.model;
  if (chassis == nullptr) system.manufacturer = reported_by_any(machine, "Manufacturer");
  system.serial = identity.serial;
  system.part_number = identity.part_number;
  system.firmware = identity.bios_version;
  survey.add(std::move(system));
  if (!machine.manager) return;
  survey.add(part_of(PartKind::bmc, "bmc", *machine.manager));
}

/// Before the firmware has found all devices (DSP0268, ComputerSystem: BootProgress.LastState).
bool is_in_post(const json::value& system) {
  constexpr std::array<std::string_view, 5> kEarly{
      "PrimaryProcessorInitializationStarted", "BusInitializationStarted",
      "MemoryInitializationStarted", "SecondaryProcessorInitializationStarted",
      "PCIResourceConfigStarted"};
  const auto last = reported(system, "BootProgress/LastState");
  return std::ranges::find(kEarly, last) != kEarly.end();
}

void note_power(Survey& survey, const Machine& machine) {
  survey.seen().power = power_of(machine.system.body);
  if (survey.seen().power == PowerState::unknown)
    survey.unknown("power state", machine.system.uri, "absent, or an undefined value");
  const bool on = survey.seen().power == PowerState::on;
  // Lists of PCIe devices vanish meanwhile (iLO 5).
  const bool starts =
      survey.seen().power == PowerState::powering_on || (on && is_in_post(machine.system.body));
  if (!starts) return;
  const std::string why = "the machine is powering on: its lists may not be complete yet";
  survey.not_whole(inventory::kCountedKinds, machine.system.uri, why, true);
  survey.unknown("what is not listed", machine.system.uri, why);
}

/// A chassis has no part of its own in what is read: its health is reported by its name.
void note_critical_chassis(Survey& survey, const Machine& machine) {
  for (const auto& chassis : *machine.chassis) {
    const bool there =
        !chassis.body.is_null() && reported(chassis.body, "Status/State") != "Absent";
    if (there && reported(chassis.body, "Status/Health") == "Critical")
      survey.seen().critical.push_back("chassis " + std::string{last_name(chassis.uri)});
  }
}

/// What is read beside other sections, until its turn in the whole.
struct Section {
  explicit Section(const Survey& whole) : survey{whole, seen} {}
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  Observed seen{};
  Survey survey;
};

struct Sections {
  explicit Sections(const Survey& whole)
      : who{whole},
        compute{whole},
        chassis{whole},
        gpus{whole},
        switches{whole},
        psus{whole},
        fans{whole},
        adapters{whole},
        drives{whole},
        pcie{whole} {}
  /// As they are reported, whichever was read first.
  std::array<Section*, 10> in_order() {
    return {&who, &compute, &chassis, &gpus, &switches, &psus, &fans, &adapters, &drives, &pcie};
  }

  Section who, compute, chassis, gpus, switches, psus, fans, adapters, drives, pcie;
  PcieListing listed{};
  DeviceLists devices{};
};

Task<void> read_who(Survey& survey, Machine& machine, bool known, Identity& identity) {
  if (!known) identity = co_await identify(survey, machine);
  add_system_and_bmc(survey, machine, identity);
}

Task<void> list_pcie(Survey& survey, const Machine& machine, PcieListing& listed) {
  listed = co_await list_pcie_devices(survey, machine);
}

Task<void> list_firmware(Survey& survey, const Machine& machine, std::vector<Document>& listed) {
  listed = co_await read_firmware(survey, machine);
}

Task<void> read_what_chassis_hold(Sections& of, const Machine& machine, PcieClaims& claims) {
  const auto is_gpu = [](const Part& part) { return part.kind == PartKind::gpu; };
  co_await read_device_lists(of.gpus.survey, machine, of.devices);
  std::vector<Task<void>> all;
  if (std::ranges::none_of(of.compute.seen.parts, is_gpu))
    all.push_back(read_gpus_elsewhere(of.gpus.survey, machine, of.devices));
  all.push_back(read_adapters(of.adapters.survey, machine, claims));
  all.push_back(list_pcie(of.pcie.survey, machine, of.listed));
  all.push_back(read_psus(of.psus.survey, machine));
  all.push_back(read_fans(of.fans.survey, machine));
  all.push_back(read_switches(of.switches.survey, machine, claims));
  co_await side_by_side(std::move(all));
}

}  // namespace

bool is_module(const Document& chassis) {
  constexpr std::array<std::string_view, 6> kModules{"Component", "Module",    "Card",
                                                     "Drawer",    "Expansion", "StorageEnclosure"};
  const auto type = reported(chassis.body, "ChassisType");
  return std::ranges::find(kModules, type) != kModules.end();
}

std::vector<const Document*> holders_of(const Machine& machine, const ChassisParts& parts) {
  std::vector<const Document*> whole, modules;
  for (const auto& chassis : *machine.chassis) {
    const bool links = find(chassis.body, parts.resource) != nullptr ||
                       find(chassis.body, parts.subsystem) != nullptr;
    if (links) (is_module(chassis) ? modules : whole).push_back(&chassis);
  }
  return whole.empty() ? modules : whole;
}

Task<void> read_list(Survey& survey, const Document& chassis, ChassisParts parts,
                     std::vector<Document>& into) {
  if (const auto uri = survey.link(chassis, parts.resource); !uri.empty()) {
    const auto resource = co_await survey.read(uri, parts.what);
    if (resource) into = rows_of(survey, *resource, parts.list, parts.what);
    if (!into.empty()) co_return;
    if (link_at(chassis.body, parts.subsystem).empty())
      survey.not_whole(uri, std::string{"lists no "} + parts.list);
  }
  const auto uri = survey.link(chassis, parts.subsystem);
  if (uri.empty()) co_return;
  const auto subsystem = co_await survey.read(uri, parts.what);
  if (!subsystem) co_return;
  const auto collection = link_at(subsystem->body, parts.list);
  if (collection.empty()) {
    survey.not_whole(uri, std::string{"lists no "} + parts.list);
    survey.unknown(parts.what, uri, std::string{"lists no "} + parts.list);
  }
  into = co_await survey.members(collection, parts.one);
}

Task<Result<Observed>> read_inventory(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(Machine machine, co_await find_machine(survey, Without::goes_on));
  note_power(survey, machine);
  // Where the system keeps its serial number to itself, its chassis are read here, for this.
  const bool tells_serial = tells_own_serial(machine);
  if (!tells_serial) seen.identity = co_await identify(survey, machine);
  Sections of{survey};
  PcieClaims claims;
  std::vector<Task<void>> first;
  first.push_back(read_who(of.who.survey, machine, !tells_serial, seen.identity));
  first.push_back(read_compute(of.compute.survey, machine, claims));
  first.push_back(read_chassis(of.chassis.survey, machine));
  first.push_back(read_drives(of.drives.survey, machine, claims));
  co_await side_by_side(std::move(first));
  for (auto* section : of.in_order()) section->seen.identity = seen.identity;
  co_await read_what_chassis_hold(of, machine, claims);
  for (auto* section : of.in_order()) survey.join(std::move(section->seen));
  add_listed_cards(survey, of.devices);
  co_await add_macs_of_cards(survey, machine);
  // Last of all: on some BMCs each version takes seconds (DGX H100: minutes together).
  fetch.nearly_done();
  // Switches are known by their firmware where nothing else lists them.
  constexpr std::array kByFirmware{PartKind::switch_chip};
  Section firmware{survey};
  if (std::ranges::none_of(seen.parts,
                           [](const Part& part) { return part.kind == PartKind::switch_chip; }))
    firmware.survey.lists(kByFirmware);
  std::vector<Document> listed;
  std::vector<Task<void>> last;
  last.push_back(read_pcie(survey, machine, claims, of.listed));
  last.push_back(list_firmware(firmware.survey, machine, listed));
  co_await side_by_side(std::move(last));
  // Where the list alone has them.
  seen.identity.bios_version = firmware.seen.identity.bios_version;
  seen.identity.bmc_version = firmware.seen.identity.bmc_version;
  survey.join(std::move(firmware.seen));
  give_versions(survey, listed, claims);
  add_switches_by_firmware(survey);
  co_await read_equipment(survey, machine);
  note_absent_links(survey, machine);
  note_critical_chassis(survey, machine);
  survey.note_restart();
  survey.note_what_lacks();
  if (survey.stopped()) co_return *survey.stopped();
  co_return seen;
}

Task<Result<std::vector<inventory::Part>>> read_versions(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(const Machine machine, co_await find_machine(survey, Without::goes_on));
  seen.identity.bios_version = reported(machine.system.body, "BiosVersion");
  if (machine.manager)
    seen.identity.bmc_version = reported(machine.manager->body, "FirmwareVersion");
  (void)co_await read_firmware(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  co_return std::move(seen.parts);
}

}  // namespace cupel::bmc::redfish
