#include "bmc/redfish/machine.h"

#include <array>

#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kRoot = "/redfish/v1";
constexpr std::size_t kMostSystems = 8;

/// What somebody could carry: a chassis whose serial number stands for the machine.
constexpr std::array<std::string_view, 8> kWholeMachines{
    "RackMount", "Shelf", "Sled", "Blade", "StandAlone", "Rack", "Tower", "Enclosure"};

/// How much a System looks like a machine. GIGABYTE lists a System called Capabilities that is a
/// form to fill in; HGX baseboards have a power state and nothing to press.
int likeness(const Document& system) {
  if (last_name(system.uri) == "Capabilities") return 0;
  int points = 1;
  if (!reset_target(system.body).empty()) points += 8;
  if (text_at(system.body, "PowerState")) points += 2;
  const auto* boot = find(system.body, "Boot");
  if (boot != nullptr && boot->is_object() && !boot->get_object().empty()) points += 1;
  return points;
}

Task<Result<std::vector<Document>>> read_systems(Survey& survey, const json::value& root) {
  auto collection = link_at(root, "Systems");
  if (collection.empty()) collection = "/redfish/v1/Systems";
  CO_TRY(const Document list, co_await survey.need(collection));
  auto uris = links_at(list.body, "Members");
  if (uris.size() > kMostSystems) uris.resize(kMostSystems);
  std::vector<Document> systems;
  std::optional<Error> last;
  for (const auto& uri : uris) {
    auto system = co_await survey.need(uri);
    if (system)
      systems.push_back(std::move(system).assume_value());
    else
      last = std::move(system).assume_error();
  }
  if (systems.empty() && last) co_return std::move(*last);
  co_return systems;
}

Result<void> pick(std::vector<Document> systems, Machine& machine) {
  std::erase_if(systems, [](const Document& one) { return likeness(one) == 0; });
  if (systems.empty())
    return Error{Code::kUnsupported, "the BMC shows no machine under /redfish/v1/Systems"};
  std::ranges::stable_sort(systems, std::greater{}, &likeness);
  if (systems.size() > 1 && !reset_target(systems[1].body).empty())
    return Error{Code::kUnsupported, "the BMC shows several machines (" + systems[0].uri + ", " +
                                         systems[1].uri +
                                         "); Cupel drives one machine with one BMC"};
  machine.system = std::move(systems.front());
  machine.baseboards.assign(std::make_move_iterator(systems.begin() + 1),
                            std::make_move_iterator(systems.end()));
  return ok();
}

Task<std::optional<Document>> read_manager(Survey& survey, const Machine& machine) {
  const auto by = links_at(machine.system.body, "Links/ManagedBy");
  if (!by.empty()) co_return co_await survey.read(by.front(), "BMC");
  auto collection = link_at(machine.root, "Managers");
  if (collection.empty()) collection = "/redfish/v1/Managers";
  const auto managers = co_await survey.links(collection, "BMC");
  if (managers.empty()) co_return std::nullopt;
  co_return co_await survey.read(managers.front(), "BMC");
}

Task<std::string> serial_of_chassis(Survey& survey, const Machine& machine) {
  auto collection = link_at(machine.root, "Chassis");
  if (collection.empty()) collection = "/redfish/v1/Chassis";
  const auto all = co_await survey.members(collection, "chassis", machine.rules->idle_chassis);
  for (const auto& chassis : all) {
    const auto type = told(chassis.body, "ChassisType");
    const bool whole = std::ranges::find(kWholeMachines, type) != kWholeMachines.end();
    const auto serial = told(chassis.body, "SerialNumber");
    if (whole && !serial.empty()) co_return serial;
  }
  co_return std::string{};
}

/// The first of these fields that some System of the node tells.
std::string told_by_any(const Machine& machine, std::string_view field) {
  auto text = told(machine.system.body, field);
  for (const auto& other : machine.baseboards)
    if (text.empty()) text = told(other.body, field);
  return text;
}

}  // namespace

std::string reset_target(const json::value& system) {
  const auto target = path_of(text_at(system, "Actions/#ComputerSystem.Reset/target").value_or(""));
  return is_on_the_bmc(target) ? target : std::string{};
}

PowerState power_of(const json::value& system) {
  const auto state = text_at(system, "PowerState").value_or("");
  if (state == "On") return PowerState::on;
  if (state == "Off") return PowerState::off;
  if (state == "PoweringOn") return PowerState::powering_on;
  if (state == "PoweringOff") return PowerState::powering_off;
  return PowerState::unknown;
}

Task<Result<Machine>> find_machine(Survey& survey) {
  Machine machine;
  CO_TRY(Document root, co_await survey.need(std::string{kRoot}));
  machine.root = std::move(root.body);
  CO_TRY(auto systems, co_await read_systems(survey, machine.root));
  CO_TRY(pick(std::move(systems), machine));
  machine.manager = co_await read_manager(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  Signs signs{.root = &machine.root, .system = &machine.system.body};
  if (machine.manager) signs.manager = &machine.manager->body;
  machine.rules = &rules_for(signs);
  co_return machine;
}

Task<Identity> identify(Survey& survey, const Machine& machine) {
  const auto& system = machine.system.body;
  Identity identity;
  identity.vendor = machine.rules->vendor;
  identity.model = told_by_any(machine, "Model");
  identity.part_number = told_by_any(machine, "PartNumber");
  identity.uuid = told(system, "UUID");
  identity.bios_version = told(system, "BiosVersion");
  if (machine.manager) identity.bmc_version = told(machine.manager->body, "FirmwareVersion");
  if (machine.rules->serial_is_sku) identity.serial = told(system, "SKU");
  if (identity.serial.empty()) identity.serial = told(system, "SerialNumber");
  // A baseboard's own serial number is not the machine's.
  if (identity.serial.empty()) identity.serial = co_await serial_of_chassis(survey, machine);
  if (identity.serial.empty()) survey.unknown("serial of the system", machine.system.uri, "absent");
  co_return identity;
}

}  // namespace cupel::bmc::redfish
