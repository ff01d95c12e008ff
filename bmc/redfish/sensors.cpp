#include "bmc/redfish/sensors.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/readings.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

struct Unit {
  std::string_view reported;  // lower case
  SensorKind kind;
  std::string_view unit;  // as sensor.h has it
  double factor = 1;
};

/// Source: DSP0268, Sensor.ReadingUnits (UCUM), and what BMCs write instead.
constexpr std::array kUnits{
    Unit{"cel", SensorKind::temperature, "°C"},
    Unit{"c", SensorKind::temperature, "°C"},
    Unit{"celsius", SensorKind::temperature, "°C"},
    Unit{"w", SensorKind::power, "W"},
    Unit{"watts", SensorKind::power, "W"},
    Unit{"kw", SensorKind::power, "W", 1000},
    Unit{"v", SensorKind::voltage, "V"},
    Unit{"volts", SensorKind::voltage, "V"},
    Unit{"mv", SensorKind::voltage, "V", 0.001},
    Unit{"a", SensorKind::current, "A"},
    Unit{"amps", SensorKind::current, "A"},
    Unit{"rpm", SensorKind::fan, "RPM"},
    Unit{"{rev}/min", SensorKind::fan, "RPM"},
    Unit{"j", SensorKind::energy, "J"},
    Unit{"kw.h", SensorKind::energy, "J", 3.6e6},
    Unit{"kwh", SensorKind::energy, "J", 3.6e6},
    Unit{"l/min", SensorKind::flow, "L/min"},
    Unit{"lpm", SensorKind::flow, "L/min"},
    Unit{"kpa", SensorKind::pressure, "kPa"},
    Unit{"pa", SensorKind::pressure, "kPa", 0.001},
};

/// Source: DSP0268, Sensor.ReadingType.
constexpr std::array kTypes{
    Unit{"temperature", SensorKind::temperature, "°C"},
    Unit{"power", SensorKind::power, "W"},
    Unit{"energyjoules", SensorKind::energy, "J"},
    Unit{"energykwh", SensorKind::energy, "J", 3.6e6},
    Unit{"energywh", SensorKind::energy, "J", 3600},
    Unit{"voltage", SensorKind::voltage, "V"},
    Unit{"current", SensorKind::current, "A"},
    Unit{"rotational", SensorKind::fan, "RPM"},
    Unit{"humidity", SensorKind::humidity, "%"},
    Unit{"liquidflow", SensorKind::flow, "L/min"},
    Unit{"liquidflowlpm", SensorKind::flow, "L/min"},
    Unit{"pressure", SensorKind::pressure, "kPa", 0.001},
    Unit{"pressurepa", SensorKind::pressure, "kPa", 0.001},
    Unit{"pressurekpa", SensorKind::pressure, "kPa"},
    // Of the air, not of coolant.
    Unit{"altitude", SensorKind::other, "kPa", 0.001},
};

const Unit* unit_of(std::span<const Unit> units, const std::string& reported) {
  const auto word = lower_case(reported);
  const auto found = std::ranges::find(units, word, &Unit::reported);
  return found == units.end() ? nullptr : &*found;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional{*value * factor} : std::nullopt;
}

std::vector<Document> rows_if_any(Readings& to, const Document& from, const char* array) {
  if (find(from.body, array) == nullptr) return {};
  return rows_of(to.survey, from, array, array);
}

/// Source: DSP0268, Redundancy: Mode, Status.
void add_redundancy(Readings& to, const Document& from, const char* array, std::string what) {
  std::size_t number = 0;
  for (const auto& one : rows_if_any(to, from, array)) {
    const auto mine = number++;
    if (one.body.is_null()) continue;
    Sensor sensor{.kind = SensorKind::redundancy,
                  .name = what + " redundancy " + std::to_string(mine),
                  .health = canonical_severity(reported(one.body, "Status/Health")),
                  .source = one.uri};
    for (const auto* path : {"Mode", "RedundancyType", "Status/State"})
      if (sensor.state.empty()) sensor.state = reported(one.body, path);
    if (sensor.state.empty()) sensor.state = sensor.health;
    if (sensor.state.empty()) continue;
    to.add(std::move(sensor));
  }
}

Task<bool> read_thermal(Readings& to, const Document& chassis) {
  const auto thermal = co_await linked(to, chassis.body, "Thermal", "temperatures");
  if (!thermal) co_return false;
  std::size_t temperatures = 0;
  for (const auto& one : rows_if_any(to, *thermal, "Temperatures")) {
    if (one.body.is_null() || is_absent(one.body)) continue;
    to.add(row(SensorKind::temperature, one, "ReadingCelsius", "°C"));
    ++temperatures;
  }
  for (const auto& one : rows_if_any(to, *thermal, "Fans")) {
    if (one.body.is_null() || is_absent(one.body)) continue;
    const bool percent = lower_case(reported(one.body, "ReadingUnits")) == "percent";
    Sensor fan = row(SensorKind::fan, one, "Reading", percent ? "%" : "RPM");
    if (!fan.value) fan.value = number_at(one.body, "ReadingRPM");
    to.add(std::move(fan));
  }
  add_redundancy(to, *thermal, "Redundancy", "fan");
  co_return temperatures > 0;
}

void add_supply(Readings& to, const Document& supply) {
  const auto name = name_of(supply.body, supply.uri);
  const std::pair<const char*, const char*> kPaths[] = {{"PowerInputWatts", " input"},
                                                        {"PowerOutputWatts", " output"}};
  bool any = false;
  for (const auto& [path, suffix] : kPaths) {
    Sensor sensor = row(SensorKind::power, supply, path, "W");
    sensor.name = name + suffix;
    if (!sensor.value) continue;
    any = true;
    to.add(std::move(sensor));
  }
  Sensor last = row(SensorKind::power, supply, "LastPowerOutputWatts", "W");
  last.name = name + " output";
  if (!any && last.value) to.add(std::move(last));
  Sensor volts = row(SensorKind::voltage, supply, "LineInputVoltage", "V");
  volts.name = name + " input voltage";
  if (volts.value) to.add(std::move(volts));
}

/// True: it lists supplies.
Task<bool> read_power(Readings& to, const Document& chassis) {
  const auto power = co_await linked(to, chassis.body, "Power", "power");
  if (!power) co_return false;
  bool first = true;
  for (const auto& one : rows_if_any(to, *power, "PowerControl")) {
    if (one.body.is_null()) continue;
    Sensor sensor = row(SensorKind::power, one, "PowerConsumedWatts", "W");
    if (first) to.whole_machine(sensor.value);
    first = false;
    if (sensor.value) to.add(std::move(sensor));
  }
  for (const auto& one : rows_if_any(to, *power, "Voltages"))
    if (!one.body.is_null() && !is_absent(one.body))
      to.add(row(SensorKind::voltage, one, "ReadingVolts", "V"));
  const auto supplies = rows_if_any(to, *power, "PowerSupplies");
  for (const auto& one : supplies)
    if (!one.body.is_null() && !is_absent(one.body)) add_supply(to, one);
  add_redundancy(to, *power, "Redundancy", "PSU");
  co_return !supplies.empty();
}

/// An excerpt of a supply's metrics; where it names its sensor and leaves out the number, that
/// sensor is asked (DGX H100).
Task<void> add_metric(Readings& to, const Document& supply, const Document& metrics,
                      const char* path, SensorKind kind, const char* suffix) {
  const auto* excerpt = find(metrics.body, path);
  if (excerpt == nullptr) co_return;
  auto value =
      excerpt->is_object() ? number_at(*excerpt, "Reading") : number_at(metrics.body, path);
  const auto uri = excerpt->is_object() ? path_of(text_at(*excerpt, "DataSourceUri").value_or(""))
                                        : std::string{};
  if (!value && !uri.empty() && to.may_ask()) {
    const auto sensor = co_await to.survey.read(uri, "sensor");
    if (sensor) value = number_at(sensor->body, "Reading");
  }
  if (!value) co_return;
  to.add({.kind = kind,
          .name = name_of(supply.body, supply.uri) + suffix,
          .value = value,
          .unit = kind == SensorKind::voltage ? "V" : "W",
          .health = canonical_severity(reported(supply.body, "Status/Health")),
          .source = metrics.uri + "#/" + path});
}

/// Source: DSP0268, PowerSupply, PowerSupplyMetrics.
Task<void> read_supplies(Readings& to, const Document& power) {
  const auto collection = link_at(power.body, "PowerSupplies");
  if (collection.empty() || !to.may_ask()) co_return;
  const auto supplies = co_await to.survey.members(collection, "PSU");
  for (const auto& supply : supplies) {
    if (supply.body.is_null() || is_absent(supply.body)) continue;
    Sensor state{.name = name_of(supply.body, supply.uri) + " status",
                 .state = reported(supply.body, "LineInputStatus"),
                 .health = canonical_severity(reported(supply.body, "Status/Health")),
                 .source = supply.uri};
    if (state.state.empty()) state.state = reported(supply.body, "Status/State");
    if (!state.state.empty() || !state.health.empty()) to.add(std::move(state));
    const auto metrics = co_await linked(to, supply.body, "Metrics", "PSU metrics");
    if (!metrics) continue;
    co_await add_metric(to, supply, *metrics, "InputPowerWatts", SensorKind::power, " input");
    co_await add_metric(to, supply, *metrics, "OutputPowerWatts", SensorKind::power, " output");
    co_await add_metric(to, supply, *metrics, "InputVoltage", SensorKind::voltage,
                        " input voltage");
  }
}

/// Source: DSP0268, EnvironmentMetrics.
/// Where arrays reported temperatures already, its own is one of them again (Lenovo).
Task<void> read_environment(Readings& to, const Document& of, bool whole, bool has_thermal) {
  const auto metrics = co_await linked(to, of.body, "EnvironmentMetrics", "environment");
  if (!metrics) co_return;
  const auto name = std::string{last_name(of.uri)};
  struct Path {
    const char* path;
    const char* suffix;
    SensorKind kind;
    const char* unit;
    double factor;
  };
  constexpr std::array kPaths{
      Path{"PowerWatts", " power", SensorKind::power, "W", 1},
      Path{"TemperatureCelsius", " temperature", SensorKind::temperature, "°C", 1},
      Path{"EnergykWh", " energy", SensorKind::energy, "J", 3.6e6},
      Path{"HumidityPercent", " humidity", SensorKind::humidity, "%", 1}};
  for (const auto& one : kPaths) {
    const auto* excerpt = find(metrics->body, one.path);
    if (excerpt == nullptr || !excerpt->is_object()) continue;
    const auto value = scaled(number_at(*excerpt, "Reading"), one.factor);
    if (whole && one.kind == SensorKind::power) to.whole_machine(value);
    if (has_thermal && one.kind == SensorKind::temperature) continue;
    const auto data_source = text_at(*excerpt, "DataSourceUri").value_or("");
    if (!value || (!data_source.empty() && to.is_known_anywhere(last_name(data_source)))) continue;
    to.add({.kind = one.kind,
            .name = name + one.suffix,
            .value = value,
            .unit = one.unit,
            .source = metrics->uri + "#/" + one.path});
  }
}

Task<void> read_subsystems(Readings& to, const Document& chassis, bool has_supplies) {
  const auto thermal = co_await linked(to, chassis.body, "ThermalSubsystem", "cooling");
  if (thermal) {
    add_redundancy(to, *thermal, "FanRedundancy", "fan");
    co_await read_leaks(to, *thermal, link_at(chassis.body, "Sensors"));
    co_await read_connectors(to, *thermal, "CoolantConnectors");
  }
  if (is_module(chassis) || has_supplies) co_return;
  const auto power = co_await linked(to, chassis.body, "PowerSubsystem", "power supplies");
  if (!power) co_return;
  add_redundancy(to, *power, "PowerSupplyRedundancy", "PSU");
  co_await read_supplies(to, *power);
}

/// What the arrays left out, where they reported the temperatures and the watts (Dell: those of
/// NICs and drives, and the PSUs' currents). Not a Lenovo's 200, which have no value.
constexpr std::size_t kMostBesideArrays = 40;

/// `beside`: the arrays reported the most of it.
Task<void> read_collection(Readings& to, const Document& chassis, bool beside) {
  const auto collection = link_at(chassis.body, "Sensors");
  if (collection.empty() || !to.may_ask()) co_return;
  auto uris = co_await to.survey.links(collection, "sensors");
  std::erase_if(uris, [&](const std::string& uri) { return to.is_known(last_name(uri)); });
  const auto left = kMostSensorRequests - to.survey.seen().requests;
  auto most = static_cast<std::size_t>(std::max(left, 0));
  if (beside && uris.size() > kMostBesideArrays) most = 0;
  if (uris.size() > most) {
    to.survey.unknown(std::to_string(uris.size() - most) + " sensors", collection,
                      "not asked: too many");
    uris.resize(most);
  }
  const auto sensors = co_await to.survey.read_all(std::move(uris), "sensor");
  for (const auto& one : sensors)
    if (!one.body.is_null() && !is_absent(one.body)) to.add(parse_sensor(one.body, one.uri));
}

Task<void> read_all_of(Readings& to, Machine& machine) {
  to.begin(machine.system.uri);
  co_await read_environment(to, machine.system, true, false);
  co_await read_chassis(to.survey, machine);
  to.learn_nesting(*machine.chassis);
  for (const auto& chassis : *machine.chassis) {
    if (chassis.body.is_null()) continue;
    to.begin(chassis.uri);
    const bool thermal = co_await read_thermal(to, chassis);
    const bool supplies = co_await read_power(to, chassis);
    const auto type = reported(chassis.body, "ChassisType");
    const bool whole = type == "RackMount" || type == "Shelf" || type == "Sled" || type == "Blade";
    co_await read_environment(to, chassis, whole, thermal);
    co_await read_subsystems(to, chassis, supplies);
    co_await read_leak_detectors(to, chassis);
    // Where the arrays reported temperatures and watts, Sensors repeat most of them one by one.
    co_await read_collection(to, chassis, thermal && to.has_watts());
  }
  co_await read_thermal_equipment(to, machine);
  co_await read_power_equipment(to, machine);
  to.name_apart();
}

}  // namespace

std::string name_of(const json::value& body, std::string_view uri) {
  for (const auto* path : {"Name", "FanName", "DeviceName", "Id", "MemberId"})
    if (auto name = reported(body, path); !name.empty()) return name;
  return std::string{last_name(uri)};
}

void set_thresholds(Sensor& sensor, const json::value& body, double factor) {
  const auto at = [&](const char* path) { return scaled(number_at(body, path), factor); };
  sensor.warn_below = at("Thresholds/LowerCaution/Reading");
  sensor.warn_above = at("Thresholds/UpperCaution/Reading");
  sensor.critical_below = at("Thresholds/LowerCritical/Reading");
  sensor.critical_above = at("Thresholds/UpperCritical/Reading");
  if (!sensor.warn_below) sensor.warn_below = at("LowerThresholdNonCritical");
  if (!sensor.warn_above) sensor.warn_above = at("UpperThresholdNonCritical");
  if (!sensor.critical_below) sensor.critical_below = at("LowerThresholdCritical");
  if (!sensor.critical_above) sensor.critical_above = at("UpperThresholdCritical");
}

Sensor row(SensorKind kind, const Document& from, const char* reading, std::string_view unit) {
  Sensor sensor{.kind = kind,
                .name = name_of(from.body, from.uri),
                .value = number_at(from.body, reading),
                .unit = std::string{unit},
                .health = canonical_severity(reported(from.body, "Status/Health")),
                .source = from.uri};
  set_thresholds(sensor, from.body, 1);
  return sensor;
}

Task<std::optional<Document>> linked(Readings& to, const json::value& body, const char* path,
                                     const char* fact) {
  const auto uri = link_at(body, path);
  if (uri.empty() || !to.may_ask()) co_return std::nullopt;
  co_return co_await to.survey.read(uri, fact);
}

Sensor parse_sensor(const json::value& body, std::string uri) {
  const auto type = reported(body, "ReadingType");
  const auto unit_reported = reported(body, "ReadingUnits");
  const auto* by_unit = unit_of(kUnits, unit_reported);
  const auto* by_type = unit_of(kTypes, type);
  const auto* unit = by_unit != nullptr && lower_case(type) != "altitude" ? by_unit : by_type;
  Sensor sensor{.kind = unit == nullptr ? SensorKind::other : unit->kind,
                .name = name_of(body, uri),
                .unit = unit == nullptr ? std::string{} : std::string{unit->unit},
                .health = canonical_severity(reported(body, "Status/Health")),
                .source = std::move(uri)};
  const double factor = unit == nullptr ? 1 : unit->factor;
  sensor.value = scaled(number_at(body, "Reading"), factor);
  set_thresholds(sensor, body, factor);
  if (unit_reported == "%" || type == "Percent") {
    sensor.unit = "%";
    const auto name = lower_case(sensor.name);
    const bool fan = name.find("fan") != name.npos || name.find("pwm") != name.npos;
    if (type == "Humidity")
      sensor.kind = SensorKind::humidity;
    else
      sensor.kind = fan ? SensorKind::fan : SensorKind::other;
  }
  return sensor;
}

Task<Result<Sensors>> read_sensors(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(Machine machine, co_await find_machine(survey, Without::goes_on));
  Sensors found;
  Readings readings{survey, found};
  co_await read_all_of(readings, machine);
  if (survey.stopped()) co_return *survey.stopped();
  if (!found.watts)
    survey.unknown("watts of the machine", machine.system.uri, "listed by no chassis");
  found.unknown = std::move(seen.unknown);
  found.by = Protocol::redfish;
  co_return found;
}

}  // namespace cupel::bmc::redfish
