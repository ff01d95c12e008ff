#include "bmc/redfish/machine.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kRoot = "/redfish/v1";
constexpr std::size_t kMostSystems = 8;
constexpr std::size_t kMostManagers = 8;

/// What somebody could carry: a chassis whose serial number stands for the machine.
constexpr std::array<std::string_view, 8> kWholeMachines{
    "RackMount", "Shelf", "Sled", "Blade", "StandAlone", "Rack", "Tower", "Enclosure"};

/// An answer that says nothing, not silence, a refusal or a stranger.
bool goes_on_after(Code code) {
  return code == Code::kNotFound || code == Code::kMalformed || code == Code::kFailed ||
         code == Code::kUnsupported;
}

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

struct Systems {
  std::vector<Document> read{};
  std::optional<Error> lost{};  // of the first that is listed and could not be read
  std::string lost_at{};
};

Task<Result<Systems>> read_systems(Survey& survey, const json::value& root) {
  auto collection = link_at(root, "Systems");
  if (collection.empty()) collection = "/redfish/v1/Systems";
  CO_TRY(const Document list, co_await survey.need(collection));
  auto uris = links_at(list.body, "Members");
  if (uris.size() > kMostSystems) uris.resize(kMostSystems);
  Systems systems;
  for (const auto& uri : uris) {
    auto system = co_await survey.need(uri);
    if (system) {
      systems.read.push_back(*std::move(system));
      continue;
    }
    survey.unknown("system " + std::string{last_name(uri)}, uri, system.error().what);
    if (systems.lost) continue;
    systems.lost = std::move(system).error();
    systems.lost_at = uri;
  }
  co_return systems;
}

/// Where none that was read can be turned on and the one that could was lost, a reader goes on with
/// nothing in its place: a baseboard is not the machine.
Result<void> pick(Systems systems, Without without, Machine& machine) {
  auto& read = systems.read;
  std::erase_if(read, [](const Document& one) { return likeness(one) == 0; });
  std::ranges::stable_sort(read, std::greater{}, &likeness);
  const bool found = !read.empty() && !reset_target(read[0].body).empty();
  if (!found && systems.lost) {
    if (without == Without::fails || !goes_on_after(systems.lost->code)) return *systems.lost;
    read.insert(read.begin(), {systems.lost_at, json::object{}});
  }
  if (read.empty())
    return Error{Code::kUnsupported, "the BMC shows no machine under /redfish/v1/Systems"};
  if (read.size() > 1 && found && !reset_target(read[1].body).empty())
    return Error{Code::kUnsupported, "the BMC shows several machines (" + read[0].uri + ", " +
                                         read[1].uri + "); Cupel drives one machine with one BMC"};
  machine.system = std::move(read.front());
  machine.baseboards.assign(std::make_move_iterator(read.begin() + 1),
                            std::make_move_iterator(read.end()));
  return ok();
}

/// Whether it manages the machine, and not one board of it (Cray EX: MCU0).
/// Source: DSP0268, Manager.ManagerType.
bool is_bmc(const Document& manager) {
  constexpr std::array<std::string_view, 3> kOthers{"AuxiliaryController", "Service",
                                                    "FabricManager"};
  const auto type = told(manager.body, "ManagerType");
  return std::ranges::find(kOthers, type) == kOthers.end();
}

/// The first of the System's managers that is a BMC, else the first.
Task<std::optional<Document>> read_manager(Survey& survey, const Machine& machine) {
  auto uris = links_at(machine.system.body, "Links/ManagedBy");
  if (uris.empty() || !is_on_the_bmc(uris.front())) {
    auto collection = link_at(machine.root, "Managers");
    if (collection.empty()) collection = "/redfish/v1/Managers";
    uris = co_await survey.links(collection, "BMC");
  }
  std::optional<Document> first;
  for (std::size_t i = 0; i < std::min(uris.size(), kMostManagers); ++i) {
    auto manager = co_await survey.read(uris[i], "BMC");
    // One that cannot be read may be the BMC: no other is taken for it.
    if (!manager) co_return std::nullopt;
    if (is_bmc(*manager)) co_return manager;
    if (!first) first = std::move(manager);
  }
  co_return first;
}

Task<std::string> serial_of_chassis(Survey& survey, Machine& machine) {
  co_await read_chassis(survey, machine);
  for (const auto& chassis : *machine.chassis) {
    const auto type = told(chassis.body, "ChassisType");
    const bool whole = std::ranges::find(kWholeMachines, type) != kWholeMachines.end();
    const auto serial = told(chassis.body, machine.rules->serial_is_sku ? "SKU" : "SerialNumber");
    if (whole && !serial.empty()) co_return serial;
  }
  co_return std::string{};
}

/// Wires between the BMC and its own host, which no other machine ever sees.
bool is_inner_wire(std::string_view uri) {
  constexpr std::array<std::string_view, 5> kInner{"usb", "tohost", "tmfifo", "vlan", "bond0:"};
  const auto name = lower_case(last_name(uri));
  return std::ranges::any_of(kInner, [&](auto word) { return name.find(word) != name.npos; });
}

/// Of the BMC's own ports. Those of wires into the machine, and made-up ones, tell nobody apart.
Task<std::vector<std::string>> macs_of_bmc(Survey& survey, const Document& manager) {
  std::vector<std::string> macs;
  const auto collection = survey.link(manager, "EthernetInterfaces");
  if (collection.empty()) {
    survey.unknown("MACs of the BMC", manager.uri, "no EthernetInterfaces");
    co_return macs;
  }
  auto uris = co_await survey.links(collection, "MACs of the BMC");
  std::erase_if(uris, is_inner_wire);
  const auto ports = co_await survey.read_all(std::move(uris), "MAC of the BMC's port");
  for (const auto& port : ports) {
    if (port.body.is_null()) continue;
    auto mac = canonical_mac(told(port.body, "PermanentMACAddress"));
    if (!mac) mac = canonical_mac(told(port.body, "MACAddress"));
    if (!mac) survey.unknown("MAC of the BMC's port", port.uri, "none that is one");
    const bool known = mac && std::ranges::find(macs, *mac) != macs.end();
    if (mac && !known && !is_local_mac(*mac)) macs.push_back(std::move(*mac));
  }
  co_return macs;
}

/// Of a machine that is its baseboard (GH200): its System has no SerialNumber at all, and no
/// chassis is the whole machine. Else a baseboard's serial number is its own.
std::string serial_of_baseboard(const Machine& machine) {
  const auto& system = machine.system.body.get_object();
  if (system.empty() || system.contains("SerialNumber")) return {};
  for (const auto& board : machine.baseboards)
    if (auto serial = told(board.body, "SerialNumber"); !serial.empty()) return serial;
  return {};
}

/// Once for all that a System lacks which its vendor's always tell: a person restarts the BMC.
void note_incomplete(Survey& survey, const Machine& machine) {
  const auto& system = machine.system;
  if (!machine.rules->forgets_until_reset || system.body.get_object().empty()) return;
  std::string lost;
  for (const auto* fact : {"Manufacturer", "Model", "SerialNumber", "BiosVersion"})
    if (told(system.body, fact).empty()) lost += (lost.empty() ? "" : ", ") + std::string{fact};
  for (const auto* fact : {"Processors", "Memory"})
    if (link_at(system.body, fact).empty()) lost += (lost.empty() ? "" : ", ") + std::string{fact};
  if (lost.empty()) return;
  survey.unknown("incomplete data", system.uri,
                 "no " + lost + "; a restart of the BMC may bring it back");
}

}  // namespace

std::string told_by_any(const Machine& machine, std::string_view field) {
  auto text = told(machine.system.body, field);
  for (const auto& other : machine.baseboards)
    if (text.empty()) text = told(other.body, field);
  return text;
}

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

Task<Result<Machine>> find_machine(Survey& survey, Without system) {
  Machine machine;
  auto root = co_await survey.need(std::string{kRoot});
  if (root) {
    take_over(machine.root, std::move(root->body));
  } else {
    // Whoever answers at all may still show its Systems where they always are.
    if (!goes_on_after(root.error().code)) co_return std::move(root).error();
    survey.unknown("the service root", std::string{kRoot}, root.error().what);
  }
  CO_TRY(auto systems, co_await read_systems(survey, machine.root));
  CO_TRY(pick(std::move(systems), system, machine));
  machine.manager = co_await read_manager(survey, machine);
  if (survey.stopped()) co_return *survey.stopped();
  VendorHints signs{.root = &machine.root, .system = &machine.system.body};
  if (machine.manager) signs.manager = &machine.manager->body;
  machine.rules = &rules_for(signs);
  survey.follow(*machine.rules, machine.root);
  co_return machine;
}

Task<void> read_chassis(Survey& survey, Machine& machine) {
  if (machine.chassis) co_return;
  auto collection = link_at(machine.root, "Chassis");
  if (collection.empty()) collection = "/redfish/v1/Chassis";
  // Never at once: what is left out of them may hang.
  auto uris = co_await survey.links(collection, "chassis");
  std::erase_if(uris, [&](const std::string& uri) {
    return std::ranges::any_of(machine.rules->idle_chassis,
                               [&](auto word) { return last_name(uri).find(word) != uri.npos; });
  });
  machine.chassis = co_await survey.read_all(std::move(uris), "chassis");
}

bool tells_own_serial(const Machine& machine) {
  const auto& system = machine.system.body;
  const bool by_sku = machine.rules->serial_is_sku && !told(system, "SKU").empty();
  return by_sku || !told(system, "SerialNumber").empty();
}

Task<Identity> identify(Survey& survey, Machine& machine) {
  const auto& system = machine.system.body;
  Identity identity;
  identity.vendor = machine.rules->vendor;
  if (identity.vendor.empty()) identity.vendor = told_by_any(machine, "Manufacturer");
  identity.model = told_by_any(machine, "Model");
  identity.part_number = told_by_any(machine, "PartNumber");
  identity.uuid = told(system, "UUID");
  identity.bios_version = told(system, "BiosVersion");
  if (machine.manager) identity.bmc_version = told(machine.manager->body, "FirmwareVersion");
  if (machine.manager) identity.bmc_macs = co_await macs_of_bmc(survey, *machine.manager);
  if (machine.rules->serial_is_sku) {
    identity.serial = told(system, "SKU");
    if (identity.serial.empty())
      survey.unknown("service tag of the system", machine.system.uri, "absent");
  }
  if (identity.serial.empty()) identity.serial = told(system, "SerialNumber");
  if (identity.serial.empty()) {
    survey.unknown("serial of the system", machine.system.uri, "absent");
    identity.serial = co_await serial_of_chassis(survey, machine);
  }
  if (identity.serial.empty()) identity.serial = serial_of_baseboard(machine);
  if (identity.uuid.empty()) survey.unknown("UUID of the system", machine.system.uri, "absent");
  note_incomplete(survey, machine);
  co_return identity;
}

}  // namespace cupel::bmc::redfish
