// Liquid cooling: connectors of a chassis, of cooling loops and of the units that move the coolant;
// leak detectors.
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

Task<void> read_unit(Readings& to, const Document& unit) {
  to.begin(unit.uri);
  co_await read_connectors(to, unit, "PrimaryCoolantConnectors");
  co_await read_connectors(to, unit, "SecondaryCoolantConnectors");
  co_await read_leaks(to, unit);
}

}  // namespace

Task<void> read_leaks(Readings& to, const Document& of) {
  const auto detection = co_await linked(to, of.body, "LeakDetection", "leak detection");
  if (!detection) co_return;
  const auto collection = link_at(detection->body, "LeakDetectors");
  const auto detectors = co_await to.survey.members(collection, "leak detector");
  for (const auto& one : detectors) {
    if (one.body.is_null() || is_absent(one.body)) continue;
    Sensor leak = row(SensorKind::leak, one, "", "");
    leak.state = told(one.body, "DetectorState");
    if (leak.state.empty()) to.survey.unknown("state of " + leak.name, one.uri, "absent");
    to.add(std::move(leak));
  }
}

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
              .health = canonical_severity(told(one.body, "Status/Health")),
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
