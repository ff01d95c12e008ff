#include "bmc/redfish/inventory.h"

#include <array>

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

void add_system_and_bmc(Survey& survey, const Machine& machine, const Identity& identity) {
  Part system = part_of(PartKind::system, "system", machine.system);
  system.model = identity.model;
  system.serial = identity.serial;
  system.part_number = identity.part_number;
  system.firmware = identity.bios_version;
  survey.add(std::move(system));
  if (!machine.manager) return;
  survey.add(part_of(PartKind::bmc, "bmc", *machine.manager));
}

void note_power(Survey& survey, const Machine& machine) {
  survey.seen().power = power_of(machine.system.body);
  if (survey.seen().power == PowerState::unknown)
    survey.unknown("power state", machine.system.uri, "absent, or a word nobody defined");
}

}  // namespace

bool is_module(const Document& chassis) {
  constexpr std::array<std::string_view, 6> kModules{"Component", "Module",    "Card",
                                                     "Drawer",    "Expansion", "StorageEnclosure"};
  const auto type = told(chassis.body, "ChassisType");
  return std::ranges::find(kModules, type) != kModules.end();
}

Task<Result<Observed>> read_inventory(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(Machine machine, co_await find_machine(survey, Without::goes_on));
  note_power(survey, machine);
  seen.identity = co_await identify(survey, machine);
  add_system_and_bmc(survey, machine, seen.identity);
  PcieClaims claims;
  co_await read_compute(survey, machine, claims);
  co_await read_chassis(survey, machine);
  co_await read_gpus_elsewhere(survey, machine);
  co_await read_switches(survey, machine, claims);
  co_await read_psus(survey, machine);
  co_await read_fans(survey, machine);
  co_await read_adapters(survey, machine, claims);
  co_await read_drives(survey, machine, claims);
  co_await read_pcie(survey, machine, claims);
  // Last of all: on some BMCs each of these takes seconds (DGX H100: minutes together).
  co_await read_firmware(survey, machine);
  add_switches_by_firmware(survey);
  survey.note_what_lacks();
  if (survey.stopped()) co_return *survey.stopped();
  co_return seen;
}

Task<Result<std::vector<inventory::Part>>> read_versions(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(const Machine machine, co_await find_machine(survey, Without::goes_on));
  seen.identity.bios_version = told(machine.system.body, "BiosVersion");
  if (machine.manager) seen.identity.bmc_version = told(machine.manager->body, "FirmwareVersion");
  co_await read_firmware(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  co_return std::move(seen.parts);
}

}  // namespace cupel::bmc::redfish
