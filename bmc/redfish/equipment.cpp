// Equipment of a rack behind a controller of its own: power shelves, PDUs and busbars; cooling
// units. What they are, and of those that carry power what they measure. What coolant does:
// coolant.cpp.
#include <array>

#include "bmc/redfish/inventory.h"
#include "bmc/redfish/readings.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

using inventory::Part;
using inventory::PartKind;

/// A collection below PowerEquipment or ThermalEquipment, and how one of its members is called.
struct Kind {
  const char* collection;
  const char* name;
};
/// Source: DSP0268, PowerEquipment.
constexpr std::array kOfPower{
    Kind{"PowerShelves", "power shelf"}, Kind{"RackPDUs", "rack PDU"},
    Kind{"FloorPDUs", "floor PDU"},      Kind{"TransferSwitches", "transfer switch"},
    Kind{"Switchgear", "switchgear"},    Kind{"ElectricalBuses", "busbar"}};
/// Source: DSP0268, ThermalEquipment.
constexpr std::array kOfCooling{Kind{"CDUs", "CDU"}, Kind{"HeatExchangers", "heat exchanger"},
                                Kind{"ImmersionUnits", "immersion unit"}};
constexpr std::size_t kMostUnits = 64;

/// It is the machine itself where its serial number is the machine's: then it adds what the chassis
/// keeps to itself, and is no second part.
void add_unit(Survey& survey, const Document& unit, const Kind& kind) {
  if (unit.body.is_null() || is_absent(unit.body)) return;
  auto part =
      part_of(PartKind::system, std::string{kind.name} + " " + reported(unit.body, "Id"), unit);
  part.firmware = reported(unit.body, "FirmwareVersion");
  const auto is_machine = [&](const Part& known) {
    return known.kind == PartKind::system && !part.serial.empty() && known.serial == part.serial;
  };
  auto& parts = survey.seen().parts;
  const auto machine = std::ranges::find_if(parts, is_machine);
  if (machine == parts.end()) {
    if (part.health == "Critical") survey.seen().critical.push_back(part.name);
    survey.add(std::move(part));
    return;
  }
  if (machine->firmware.empty()) machine->firmware = part.firmware;
  if (machine->health.empty()) machine->health = part.health;
}

Task<void> read_units(Survey& survey, const Machine& machine, const char* root,
                      std::span<const Kind> kinds) {
  const auto uri = link_at(machine.root, root);
  if (uri.empty()) co_return;
  const auto equipment = co_await survey.read(uri, root);
  if (!equipment) co_return;
  for (const auto& kind : kinds) {
    const auto collection = link_at(equipment->body, kind.collection);
    if (collection.empty()) continue;
    auto uris = co_await survey.links(collection, kind.collection);
    if (uris.size() > kMostUnits)
      survey.unknown(kind.collection, uris[kMostUnits],
                     "more than " + std::to_string(kMostUnits) + ": the rest is not read");
    uris.resize(std::min(uris.size(), kMostUnits));
    const auto units = co_await survey.read_all(std::move(uris), kind.name);
    for (const auto& unit : units) add_unit(survey, unit, kind);
  }
}

struct Excerpt {
  const char* path;
  SensorKind kind;
  const char* unit;
  const char* what;
  double factor = 1;
};
constexpr std::array kOfCircuit{Excerpt{"PowerWatts", SensorKind::power, "W", " power"},
                                Excerpt{"Voltage", SensorKind::voltage, "V", " voltage"},
                                Excerpt{"CurrentAmps", SensorKind::current, "A", " current"},
                                Excerpt{"EnergykWh", SensorKind::energy, "J", " energy", 3.6e6}};

void add_circuit(Readings& to, const Document& circuit, const std::string& unit) {
  const auto name = unit + " " + name_of(circuit.body, circuit.uri);
  const auto health = canonical_severity(reported(circuit.body, "Status/Health"));
  for (const auto& excerpt : kOfCircuit) {
    const auto value = number_at(circuit.body, std::string{excerpt.path} + "/Reading");
    if (!value) continue;
    to.add({.kind = excerpt.kind,
            .name = name + excerpt.what,
            .value = *value * excerpt.factor,
            .unit = excerpt.unit,
            .health = health,
            .source = circuit.uri + "#/" + excerpt.path});
  }
  const auto breaker = reported(circuit.body, "BreakerState");
  if (!breaker.empty())
    to.add({.name = name + " breaker",
            .state = breaker,
            .health = breaker == "Tripped" ? "Critical" : health,
            .source = circuit.uri + "#/BreakerState"});
}

Task<void> read_distribution(Readings& to, const Document& unit, const Kind& kind) {
  to.begin(unit.uri);
  const auto name = std::string{kind.name} + " " + reported(unit.body, "Id");
  const auto metrics = co_await linked(to, unit.body, "Metrics", "metrics of the equipment");
  if (metrics) {
    const auto watts = number_at(metrics->body, "PowerWatts/Reading");
    if (std::string_view{kind.collection} == "PowerShelves") to.whole_machine(watts);
    add_circuit(to, *metrics, name);
  }
  for (const auto* what : {"Mains", "Branches", "Feeders"}) {
    const auto collection = link_at(unit.body, what);
    if (collection.empty() || !to.may_ask()) continue;
    const auto circuits = co_await to.survey.members(collection, what);
    for (const auto& circuit : circuits)
      if (!circuit.body.is_null() && !is_absent(circuit.body)) add_circuit(to, circuit, name);
  }
}

}  // namespace

Task<void> read_equipment(Survey& survey, const Machine& machine) {
  if (machine.has_system) co_return;
  co_await read_units(survey, machine, "PowerEquipment", kOfPower);
  co_await read_units(survey, machine, "ThermalEquipment", kOfCooling);
}

Task<void> read_power_equipment(Readings& to, const Machine& machine) {
  const auto equipment = co_await linked(to, machine.root, "PowerEquipment", "power equipment");
  if (!equipment) co_return;
  for (const auto& kind : kOfPower) {
    const auto collection = link_at(equipment->body, kind.collection);
    if (collection.empty() || !to.may_ask()) continue;
    const auto units = co_await to.survey.members(collection, kind.name);
    for (const auto& unit : units)
      if (!unit.body.is_null() && !is_absent(unit.body)) co_await read_distribution(to, unit, kind);
  }
}

}  // namespace cupel::bmc::redfish
