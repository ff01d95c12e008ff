#include "bmc/redfish/machine.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/systems.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kRoot = "/redfish/v1";
constexpr std::size_t kMostManagers = 8;

/// What somebody could carry: a chassis whose serial number stands for the machine.
constexpr std::array<std::string_view, 8> kWholeMachines{
    "RackMount", "Shelf", "Sled", "Blade", "StandAlone", "Rack", "Tower", "Enclosure"};

/// Whether it manages the machine, and not one board of it (Cray EX: MCU0).
/// Source: DSP0268, Manager.ManagerType.
bool is_bmc(const Document& manager) {
  constexpr std::array<std::string_view, 3> kOthers{"AuxiliaryController", "Service",
                                                    "FabricManager"};
  const auto type = reported(manager.body, "ManagerType");
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
  if (uris.size() > kMostManagers)
    survey.unknown("BMC", uris[kMostManagers],
                   "none of the first " + std::to_string(kMostManagers) +
                       " managers is a BMC: the rest is not read");
  co_return first;
}

/// Whose a chassis is, of a BMC with several nodes: by its own links, else by its name (Cray EX:
/// Chassis/Node0 of Systems/Node0, and no links).
enum class Owner { ours, another, nobody };

Owner owner_of(const Document& chassis, const Machine& machine) {
  const auto mine = normal(machine.system.uri);
  auto systems = links_at(chassis.body, "Links/ComputerSystems");
  for (auto& uri : systems) uri = normal(uri);
  const bool is_linked = std::ranges::find(systems, mine) != systems.end();
  if (is_linked) return systems.size() == 1 ? Owner::ours : Owner::nobody;
  if (!systems.empty()) return Owner::another;
  const auto name = last_name(chassis.uri);
  if (name == last_name(machine.system.uri)) return Owner::ours;
  const bool anothers = std::ranges::any_of(
      machine.others, [&](const std::string& uri) { return last_name(uri) == name; });
  return anothers ? Owner::another : Owner::nobody;
}

void keep_own_chassis(Survey& survey, Machine& machine) {
  std::erase_if(*machine.chassis, [&](const Document& one) {
    const auto owner = owner_of(one, machine);
    if (owner == Owner::nobody)
      survey.unknown("chassis " + std::string{last_name(one.uri)}, one.uri,
                     "the BMC has several nodes, and does not report whose it is");
    return owner != Owner::ours;
  });
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
    auto mac = canonical_mac(reported(port.body, "PermanentMACAddress"));
    if (!mac) mac = canonical_mac(reported(port.body, "MACAddress"));
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
    if (auto serial = reported(board.body, "SerialNumber"); !serial.empty()) return serial;
  return {};
}

/// Once for all that a System lacks which its vendor's always tell: a person restarts the BMC.
void note_incomplete(Survey& survey, const Machine& machine) {
  const auto& system = machine.system;
  if (!machine.rules->forgets_until_reset || system.body.get_object().empty()) return;
  std::string lost;
  for (const auto* fact : {"Manufacturer", "Model", "SerialNumber", "BiosVersion"})
    if (reported(system.body, fact).empty()) lost += (lost.empty() ? "" : ", ") + std::string{fact};
  for (const auto* fact : {"Processors", "Memory"})
    if (link_at(system.body, fact).empty()) lost += (lost.empty() ? "" : ", ") + std::string{fact};
  if (lost.empty()) return;
  survey.unknown("incomplete data", system.uri,
                 "no " + lost + "; a restart of the BMC may bring it back");
}

/// The field that a chassis has its serial number in.
std::string serial_of_chassis(const Machine& machine, const Document& chassis) {
  return reported(chassis.body, machine.rules->serial_is_sku ? "SKU" : "SerialNumber");
}

}  // namespace

const Document* chassis_of_machine(const Machine& machine) {
  std::vector<const Document*> with_serial;
  for (const auto& chassis : *machine.chassis) {
    if (serial_of_chassis(machine, chassis).empty()) continue;
    const auto type = reported(chassis.body, "ChassisType");
    if (std::ranges::find(kWholeMachines, type) != kWholeMachines.end()) return &chassis;
    with_serial.push_back(&chassis);
  }
  if (machine.has_system) return nullptr;
  // LiteOn calls it "powershelf", Delta "PowerShelf_0"; neither says what type of chassis it is.
  const auto is_shelf = [](const Document* one) {
    return lower_case(last_name(one->uri)).starts_with("powershelf");
  };
  const auto shelf = std::ranges::find_if(with_serial, is_shelf);
  if (shelf != with_serial.end()) return *shelf;
  return with_serial.size() == 1 ? with_serial.front() : nullptr;
}

std::string reported_by_any(const Machine& machine, std::string_view field) {
  auto text = reported(machine.system.body, field);
  for (const auto& other : machine.baseboards)
    if (text.empty()) text = reported(other.body, field);
  return text;
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
  CO_TRY(pick_system(std::move(systems), system, survey.requested_system(), machine));
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
  constexpr std::array kHeld{inventory::PartKind::psu, inventory::PartKind::fan,
                             inventory::PartKind::nic, inventory::PartKind::hca,
                             inventory::PartKind::dpu, inventory::PartKind::switch_chip};
  Observed apart;
  Survey piece{survey, apart};
  piece.lists(kHeld);
  // Never at once: what is left out of them may hang.
  auto uris = co_await piece.links(collection, "chassis");
  std::erase_if(uris, [&](const std::string& uri) {
    return std::ranges::any_of(machine.rules->idle_chassis,
                               [&](auto word) { return last_name(uri).find(word) != uri.npos; });
  });
  machine.chassis = co_await piece.read_all(std::move(uris), "chassis");
  survey.join(std::move(apart));
  if (!machine.others.empty()) keep_own_chassis(survey, machine);
}

bool tells_own_serial(const Machine& machine) {
  const auto& system = machine.system.body;
  const bool by_sku = machine.rules->serial_is_sku && !reported(system, "SKU").empty();
  return by_sku || !reported(system, "SerialNumber").empty();
}

Task<Identity> identify(Survey& survey, Machine& machine) {
  const auto& system = machine.system.body;
  Identity identity;
  identity.vendor = machine.rules->vendor;
  if (identity.vendor.empty()) identity.vendor = reported_by_any(machine, "Manufacturer");
  identity.model = reported_by_any(machine, "Model");
  identity.part_number = reported_by_any(machine, "PartNumber");
  identity.uuid = reported(system, "UUID");
  identity.bios_version = reported(system, "BiosVersion");
  if (machine.manager) identity.bmc_version = reported(machine.manager->body, "FirmwareVersion");
  if (machine.manager) identity.bmc_macs = co_await macs_of_bmc(survey, *machine.manager);
  if (machine.rules->serial_is_sku) {
    identity.serial = reported(system, "SKU");
    if (identity.serial.empty())
      survey.unknown("service tag of the system", machine.system.uri, "absent");
  }
  if (identity.serial.empty()) identity.serial = reported(system, "SerialNumber");
  if (identity.serial.empty()) {
    survey.unknown("serial of the system", machine.system.uri, "absent");
    co_await read_chassis(survey, machine);
    const auto* chassis = chassis_of_machine(machine);
    if (chassis != nullptr) identity.serial = serial_of_chassis(machine, *chassis);
    // Of an enclosure or a switch the chassis is all there is.
    if (chassis != nullptr && !machine.has_system) {
      identity.model = reported(chassis->body, "Model");
      identity.part_number = reported(chassis->body, "PartNumber");
      if (identity.vendor.empty()) identity.vendor = reported(chassis->body, "Manufacturer");
      if (identity.uuid.empty()) identity.uuid = reported(chassis->body, "UUID");
    }
  }
  if (identity.serial.empty()) identity.serial = serial_of_baseboard(machine);
  if (identity.uuid.empty()) survey.unknown("UUID of the system", machine.system.uri, "absent");
  note_incomplete(survey, machine);
  co_return identity;
}

}  // namespace cupel::bmc::redfish
