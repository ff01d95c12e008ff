// Liquid cooling: connectors of a chassis, of cooling loops and of the units that move the coolant;
// their pumps, filters and reservoirs.
#include <array>

#include "base/text.h"
#include "bmc/redfish/readings.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

struct Excerpt {
  const char* path;
  SensorKind kind;
  const char* unit;
  const char* what;
  double factor = 1;
};

constexpr std::array kOfConnector{
    Excerpt{"FlowLitersPerMinute", SensorKind::flow, "L/min", " flow"},
    Excerpt{"SupplyTemperatureCelsius", SensorKind::temperature, "°C", " supply"},
    Excerpt{"ReturnTemperatureCelsius", SensorKind::temperature, "°C", " return"},
    Excerpt{"SupplyPressurekPa", SensorKind::pressure, "kPa", " supply pressure"},
    Excerpt{"ReturnPressurekPa", SensorKind::pressure, "kPa", " return pressure"},
    Excerpt{"DeltaPressurekPa", SensorKind::pressure, "kPa", " pressure"},
    Excerpt{"HeatRemovedkW", SensorKind::power, "W", " heat removed", 1000}};

/// An excerpt of a sensor, or the number alone as some write it.
std::optional<double> reading_at(const json::value& body, const std::string& path) {
  const auto value = number_at(body, path + "/Reading");
  return value ? value : number_at(body, path);
}

/// Pumps, filters and reservoirs: a state and a health each, and of a pump its speed.
/// Source: DSP0268, Pump, Filter, Reservoir.
Task<void> read_pumps(Readings& to, const Document& unit) {
  for (const auto* what : {"Pumps", "Filters", "Reservoirs"}) {
    const auto collection = link_at(unit.body, what);
    if (collection.empty() || !to.may_ask()) continue;
    const auto all = co_await to.survey.members(collection, what);
    for (const auto& one : all) {
      if (one.body.is_null() || is_absent(one.body)) continue;
      Sensor sensor{.name = name_of(one.body, one.uri),
                    .state = reported(one.body, "FluidLevelStatus"),
                    .health = canonical_severity(reported(one.body, "Status/Health")),
                    .source = one.uri};
      if (sensor.state.empty()) sensor.state = reported(one.body, "Status/State");
      sensor.value = reading_at(one.body, "PumpSpeedPercent");
      if (sensor.value) sensor.unit = "%";
      to.add(std::move(sensor));
    }
  }
}

Task<void> read_unit(Readings& to, const Document& unit) {
  to.begin(unit.uri);
  co_await read_connectors(to, unit, "PrimaryCoolantConnectors");
  co_await read_connectors(to, unit, "SecondaryCoolantConnectors");
  co_await read_leaks(to, unit, {});
  co_await read_pumps(to, unit);
}

}  // namespace

Task<void> read_connectors(Readings& to, const Document& of, const char* path) {
  const auto collection = link_at(of.body, path);
  if (collection.empty() || !to.may_ask()) co_return;
  const auto connectors = co_await to.survey.members(collection, "coolant");
  for (const auto& one : connectors) {
    if (one.body.is_null() || is_absent(one.body)) continue;
    const auto name = name_of(one.body, one.uri);
    for (const auto& excerpt : kOfConnector) {
      const auto value = reading_at(one.body, excerpt.path);
      if (!value) continue;
      to.add({.kind = excerpt.kind,
              .name = name + excerpt.what,
              .value = *value * excerpt.factor,
              .unit = excerpt.unit,
              .health = canonical_severity(reported(one.body, "Status/Health")),
              .source = one.uri + "#/" + excerpt.path});
    }
  }
}

Task<void> read_thermal_equipment(Readings& to, const Machine& machine) {
  const auto equipment = co_await linked(to, machine.root, "ThermalEquipment", "cooling equipment");
  if (!equipment) co_return;
  for (const auto* what : {"CDUs", "HeatExchangers", "ImmersionUnits", "CoolingLoops"}) {
    const auto collection = link_at(equipment->body, what);
    if (collection.empty() || !to.may_ask()) continue;
    const auto units = co_await to.survey.members(collection, what);
    for (const auto& unit : units)
      if (!unit.body.is_null() && !is_absent(unit.body)) co_await read_unit(to, unit);
  }
}

}  // namespace cupel::bmc::redfish
