#include "bmc/redfish/inventory.h"

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

Task<std::vector<Document>> read_chassis(Survey& survey, const Machine& machine) {
  auto collection = link_at(machine.root, "Chassis");
  if (collection.empty()) collection = "/redfish/v1/Chassis";
  co_return co_await survey.members(collection, "chassis", machine.rules->idle_chassis);
}

}  // namespace

Task<Result<Observed>> read_inventory(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(const Machine machine, co_await find_machine(survey));
  seen.power = power_of(machine.system.body);
  seen.identity = co_await identify(survey, machine);
  add_system_and_bmc(survey, machine, seen.identity);
  co_await read_compute(survey, machine);
  const auto chassis = co_await read_chassis(survey, machine);
  co_await read_gpus_elsewhere(survey, machine, chassis);
  co_await read_psus(survey, machine, chassis);
  co_await read_adapters(survey, chassis);
  co_await read_drives(survey, machine);
  co_await read_firmware(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  co_return seen;
}

}  // namespace cupel::bmc::redfish
