// What a BMC measures: the readings once, shown as the old Thermal and Power, as the new Sensors
// and subsystems, or as both. They are the machine's physics, rounded.
#include <fmt/format.h>

#include <cmath>

#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {
namespace {

constexpr double kPsuCapacity = 3300, kVolts = 230;

struct Reading {
  std::string id;
  std::string_view type, units, context;
  std::optional<double> value{};  // nothing: it cannot be read now
  std::optional<double> critical{};
};

bool is_on(const BmcView& view) { return view.machine.power() == Power::on; }

const BoardSensors& sensors(const BmcView& view) { return view.machine.sensors(); }

double tenths(double value) { return std::round(value * 10) / 10; }

double watts(const BmcView& view) { return std::round(sensors(view).node_watts()); }

int fan_count(const BmcView& view) { return static_cast<int>(view.hardware().fans.size()); }

bool is_stuck(const BmcView& view, int fan) {
  const auto name = fmt::format("fan{}", fan);
  return find_fault(view.machine.faults(), FaultKind::fan_stuck, name) != nullptr;
}

bool any_is_stuck(const BmcView& view) {
  return find_fault(view.machine.faults(), FaultKind::fan_stuck) != nullptr;
}

json::object fan_status(const BmcView& view, int fan) {
  return is_stuck(view, fan) ? json::object{{"Health", "Critical"}, {"State", "Enabled"}}
                             : healthy();
}

json::object fans_status(const BmcView& view) {
  return any_is_stuck(view) ? json::object{{"Health", "Warning"}, {"State", "Enabled"}} : healthy();
}

json::object psu_status(const BmcView& view, const Psu& psu) {
  return sensors(view).psu_has_input(psu.name)
             ? healthy()
             : json::object{{"Health", "Critical"}, {"State", "Enabled"}};
}

std::vector<Reading> temperatures(const BmcView& view) {
  const bool on = is_on(view);
  const auto while_on = [&](double value) { return on ? std::optional{value} : std::nullopt; };
  std::vector<Reading> all{{"TEMP_AMBIENT", "Temperature", "Cel", "Intake",
                            tenths(sensors(view).inlet_celsius()), 45.0}};
  const auto& hardware = view.hardware();
  for (std::size_t i = 0; i < hardware.cpus.size(); ++i)
    all.push_back({fmt::format("TEMP_CPU{}", i), "Temperature", "Cel", "CPU",
                   while_on(tenths(sensors(view).cpu_celsius(static_cast<int>(i)))), 95.0});
  for (const auto& gpu : hardware.gpus)
    all.push_back({fmt::format("TEMP_GPU_SXM_{}", gpu.index + 1), "Temperature", "Cel", "GPU",
                   while_on(tenths(sensors(view).gpu_celsius(gpu.index))), 87.0});
  return all;
}

std::vector<Reading> fans(const BmcView& view) {
  std::vector<Reading> all;
  for (int i = 0; i < fan_count(view); ++i)
    all.push_back({view.id(view.layout().fan, i), "Rotational", "RPM", "Fan",
                   std::round(sensors(view).fan_rpm(i))});
  return all;
}

std::vector<Reading> powers(const BmcView& view) {
  std::vector<Reading> all{{"PWR_SYSTEM", "Power", "W", "Chassis", watts(view)}};
  const auto& psus = view.hardware().psus;
  for (const auto& psu : psus) {
    const auto number = psu.name.substr(3);
    const bool fed = sensors(view).psu_has_input(psu.name);
    all.push_back({"PWR_PSU" + number, "Power", "W", "PowerSupply",
                   tenths(sensors(view).psu_watts(psu.name))});
    all.push_back({"VOLT_PSU" + number, "Voltage", "V", "PowerSupply", fed ? kVolts : 0});
  }
  return all;
}

json::value shown(const std::optional<double>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

void add_sensor(ResourceTree& tree, const BmcView& view, const Reading& reading) {
  const auto path = view.chassis() + "/Sensors/" + reading.id;
  auto one = resource(path, "#Sensor.v1_2_0.Sensor", reading.id, reading.id);
  one["Reading"] = shown(reading.value);
  one["ReadingType"] = reading.type;
  one["ReadingUnits"] = reading.units;
  one["PhysicalContext"] = reading.context;
  if (reading.critical) one["Thresholds"] = {{"UpperCritical", {{"Reading", *reading.critical}}}};
  one["Status"] = healthy(reading.value.has_value());
  tree[path] = std::move(one);
}

void add_all_sensors(ResourceTree& tree, const BmcView& view) {
  for (const auto& all : {temperatures(view), fans(view), powers(view)})
    for (const auto& reading : all) add_sensor(tree, view, reading);
  add_collection(tree, view.chassis() + "/Sensors", "#SensorCollection.SensorCollection",
                 "Sensors");
}

std::string psu_id(const BmcView& view, const Psu& psu) {
  return view.id(view.layout().psu, std::stoi(psu.name.substr(3)));
}

/// A line sags a little under what is drawn from it.
double line_volts(const BmcView& view, const Psu& psu) {
  constexpr double kSagAtCapacity = 6;
  if (!sensors(view).psu_has_input(psu.name)) return 0;
  return tenths(kVolts - kSagAtCapacity * sensors(view).psu_watts(psu.name) / kPsuCapacity);
}

void add_psu_metrics(ResourceTree& tree, const BmcView& view, const Psu& psu,
                     const std::string& path) {
  constexpr double kEfficiency = 0.94;
  const auto watts = sensors(view).psu_watts(psu.name);
  auto metrics = resource(path + "/Metrics", "#PowerSupplyMetrics.v1_0_1.PowerSupplyMetrics",
                          "Metrics", "Power Supply Metrics");
  metrics["InputVoltage"] = {{"Reading", line_volts(view, psu)}};
  metrics["InputPowerWatts"] = {{"Reading", tenths(watts)}};
  metrics["OutputPowerWatts"] = {{"Reading", tenths(watts * kEfficiency)}};
  metrics["Status"] = psu_status(view, psu);
  tree[path + "/Metrics"] = std::move(metrics);
}

bool redundancy_is_lost(const BmcView& view) {
  const auto fed = [&view](const Psu& psu) { return sensors(view).psu_has_input(psu.name); };
  return find_fault(view.machine.faults(), FaultKind::psu_missing) != nullptr ||
         !std::ranges::all_of(view.hardware().psus, fed);
}

json::object redundancy_status(const BmcView& view) {
  return {{"Health", redundancy_is_lost(view) ? "Warning" : "OK"}, {"State", "Enabled"}};
}

void add_power_subsystem(ResourceTree& tree, const BmcView& view) {
  const auto subsystem = view.chassis() + "/PowerSubsystem";
  std::vector<std::string> group;
  const auto& psus = view.hardware().psus;
  for (const auto& psu : psus) {
    const auto id = psu_id(view, psu);
    const auto path = subsystem + "/PowerSupplies/" + id;
    auto one = resource(path, "#PowerSupply.v1_3_0.PowerSupply", id, id);
    one["Manufacturer"] = "Delta";
    one["Model"] = psu.model;
    one["PartNumber"] = "ECD16020137";
    one["SerialNumber"] = psu.serial;
    one["FirmwareVersion"] = psu.firmware;
    one["PowerCapacityWatts"] = kPsuCapacity;
    one["LineInputStatus"] = sensors(view).psu_has_input(psu.name) ? "Normal" : "LossOfInput";
    one["Status"] = psu_status(view, psu);
    one["Metrics"] = link(path + "/Metrics");
    tree[path] = std::move(one);
    add_psu_metrics(tree, view, psu, path);
    group.push_back(path);
  }
  add_collection(tree, subsystem + "/PowerSupplies", "#PowerSupplyCollection.PowerSupplyCollection",
                 "PowerSupplies");
  auto power = resource(subsystem, "#PowerSubsystem.v1_1_0.PowerSubsystem", "PowerSubsystem",
                        "PowerSubsystem");
  power["PowerSupplies"] = link(subsystem + "/PowerSupplies");
  power["CapacityWatts"] = kPsuCapacity * static_cast<double>(psus.size());
  power["PowerSupplyRedundancy"] =
      json::array{{{"RedundancyType", "NPlusM"},
                   {"MinNeededInGroup", std::max<std::size_t>(psus.size(), 2) - 1},
                   {"MaxSupportedInGroup", psus.size()},
                   {"RedundancyGroup", links(group)},
                   {"Status", redundancy_status(view)}}};
  power["Status"] = redundancy_status(view);
  tree[subsystem] = std::move(power);
}

void add_leak_detection(ResourceTree& tree, const BmcView& view, const std::string& subsystem) {
  const auto path = subsystem + "/LeakDetection";
  const bool leaks = find_fault(view.machine.faults(), FaultKind::leak) != nullptr;
  for (const auto* where : {"ColdPlate", "Manifold"}) {
    const auto id = fmt::format("{}_LeakDetector_0_{}", view.layout().chassis, where);
    const bool wet = leaks && std::string_view{where} == "ColdPlate";
    auto one = resource(path + "/LeakDetectors/" + id, "#LeakDetector.v1_1_0.LeakDetector", id, id);
    one["LeakDetectorType"] = "Moisture";
    one["DetectorState"] = wet ? "Critical" : "OK";
    one["Status"] = {{"Health", wet ? "Critical" : "OK"}, {"State", "Enabled"}};
    tree[path + "/LeakDetectors/" + id] = std::move(one);
  }
  add_collection(tree, path + "/LeakDetectors", "#LeakDetectorCollection.LeakDetectorCollection",
                 "Leak Detectors");
  auto detection = resource(path, "#LeakDetection.v1_0_0.LeakDetection", "LeakDetection",
                            "Leak Detection Systems");
  detection["LeakDetectors"] = link(path + "/LeakDetectors");
  detection["Status"] = {{"Health", leaks ? "Critical" : "OK"}, {"State", "Enabled"}};
  tree[path] = std::move(detection);
}

void add_thermal_subsystem(ResourceTree& tree, const BmcView& view) {
  const auto subsystem = view.chassis() + "/ThermalSubsystem";
  std::vector<std::string> group;
  int number = 0;
  for (const auto& fan : fans(view)) {
    const auto speed = is_stuck(view, number) ? 0L : std::lround(sensors(view).fan_percent());
    const auto path = subsystem + "/Fans/" + fan.id;
    auto one = resource(path, "#Fan.v1_1_1.Fan", fan.id, fan.id);
    one["PhysicalContext"] = "Fan";
    one["SpeedPercent"] = {{"DataSourceUri", view.chassis() + "/Sensors/" + fan.id},
                           {"Reading", speed},
                           {"SpeedRPM", shown(fan.value)}};
    one["Status"] = fan_status(view, number++);
    tree[path] = std::move(one);
    group.push_back(path);
  }
  add_collection(tree, subsystem + "/Fans", "#FanCollection.FanCollection", "Fans");
  json::array all;
  for (const auto& reading : temperatures(view))
    all.push_back({{"DataSourceUri", view.chassis() + "/Sensors/" + reading.id},
                   {"DeviceName", reading.id},
                   {"Reading", shown(reading.value)}});
  auto metrics = resource(subsystem + "/ThermalMetrics", "#ThermalMetrics.v1_0_0.ThermalMetrics",
                          "ThermalMetrics", "Thermal Metrics");
  metrics["TemperatureReadingsCelsius"] = std::move(all);
  tree[subsystem + "/ThermalMetrics"] = std::move(metrics);
  auto thermal = resource(subsystem, "#ThermalSubsystem.v1_3_0.ThermalSubsystem",
                          "ThermalSubsystem", "ThermalSubsystem");
  thermal["Fans"] = link(subsystem + "/Fans");
  thermal["ThermalMetrics"] = link(subsystem + "/ThermalMetrics");
  thermal["FanRedundancy"] = json::array{{{"RedundancyType", "NPlusM"},
                                          {"MinNeededInGroup", std::max(fan_count(view), 1) - 1},
                                          {"MaxSupportedInGroup", fan_count(view)},
                                          {"RedundancyGroup", links(group)},
                                          {"Status", fans_status(view)}}};
  thermal["Status"] = fans_status(view);
  if (view.layout().liquid) {
    add_leak_detection(tree, view, subsystem);
    thermal["LeakDetection"] = link(subsystem + "/LeakDetection");
  }
  tree[subsystem] = std::move(thermal);
}

void add_environment(ResourceTree& tree, const BmcView& view) {
  const auto path = view.chassis() + "/EnvironmentMetrics";
  auto metrics = resource(path, "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
                          "EnvironmentMetrics", "Environment Metrics");
  const auto source = [&](std::string_view id) {
    return view.chassis() + "/Sensors/" + std::string{id};
  };
  metrics["PowerWatts"] = {{"DataSourceUri", source("PWR_SYSTEM")}, {"Reading", watts(view)}};
  metrics["TemperatureCelsius"] = {{"DataSourceUri", source("TEMP_AMBIENT")},
                                   {"Reading", tenths(sensors(view).inlet_celsius())}};
  tree[path] = std::move(metrics);
}

std::string part_of(const std::string& path, std::string_view array, std::size_t index) {
  return fmt::format("{}#/{}/{}", path, array, index);
}

void add_old_thermal(ResourceTree& tree, const BmcView& view) {
  const auto path = view.chassis() + "/Thermal";
  auto thermal = resource(path, "#Thermal.v1_5_3.Thermal", "Thermal", "Thermal");
  json::array hot;
  for (const auto& reading : temperatures(view)) {
    json::object one{{"@odata.id", part_of(path, "Temperatures", hot.size())},
                     {"MemberId", std::to_string(hot.size())},
                     {"Name", reading.id},
                     {"PhysicalContext", reading.context},
                     {"ReadingCelsius", shown(reading.value)},
                     {"Status", healthy(reading.value.has_value())}};
    if (reading.critical) one["UpperThresholdCritical"] = *reading.critical;
    hot.push_back(std::move(one));
  }
  json::array blowing;
  for (const auto& fan : fans(view))
    blowing.push_back({{"@odata.id", part_of(path, "Fans", blowing.size())},
                       {"MemberId", std::to_string(blowing.size())},
                       {"Name", fan.id.size() > 2 ? fan.id : "Fan " + fan.id},
                       {"Reading", static_cast<std::int64_t>(fan.value.value_or(0))},
                       {"ReadingUnits", "RPM"},
                       {"Status", fan_status(view, static_cast<int>(blowing.size()))}});
  thermal["Temperatures"] = std::move(hot);
  thermal["Fans"] = std::move(blowing);
  tree[path] = std::move(thermal);
}

void add_old_power(ResourceTree& tree, const BmcView& view) {
  const auto path = view.chassis() + "/Power";
  auto power = resource(path, "#Power.v1_6_0.Power", "Power", "Power");
  json::array supplies, set;
  // A DGX's lists none here: they are in its PowerSubsystem alone.
  const bool lists = view.behavior().vendor != "dgx";
  const auto& psus = view.hardware().psus;
  for (const auto& psu : psus) {
    if (!lists) break;
    const auto mine = part_of(path, "PowerSupplies", supplies.size());
    supplies.push_back({{"@odata.id", mine},
                        {"MemberId", std::to_string(supplies.size())},
                        {"Name", "Power Supply Bay " + psu_id(view, psu)},
                        {"Manufacturer", "Delta"},
                        {"Model", psu.model},
                        {"SerialNumber", psu.serial},
                        {"FirmwareVersion", psu.firmware},
                        {"PowerCapacityWatts", kPsuCapacity},
                        {"LineInputVoltage", line_volts(view, psu)},
                        {"LastPowerOutputWatts", tenths(sensors(view).psu_watts(psu.name))},
                        {"Status", psu_status(view, psu)}});
    set.push_back(link(mine));
  }
  power["PowerControl"] = json::array{{{"@odata.id", part_of(path, "PowerControl", 0)},
                                       {"MemberId", "0"},
                                       {"Name", "System Power Control"},
                                       {"PowerConsumedWatts", watts(view)}}};
  if (lists) {
    power["Redundancy"] = json::array{{{"@odata.id", part_of(path, "Redundancy", 0)},
                                       {"MemberId", "0"},
                                       {"Name", "PowerSupply Redundancy Group 1"},
                                       {"Mode", "N+m"},
                                       {"MinNumNeeded", std::max<std::size_t>(psus.size(), 2) - 1},
                                       {"MaxNumSupported", psus.size()},
                                       {"RedundancySet", std::move(set)},
                                       {"Status", redundancy_status(view)}}};
    power["PowerSupplies"] = std::move(supplies);
  }
  tree[path] = std::move(power);
}

}  // namespace

void add_sensors(ResourceTree& tree, const BmcView& view) {
  const auto style = view.layout().sensors;
  const auto wants = [&](const char* part) { return view.wants(view.chassis() + part); };
  if (style != SensorStyle::modern) {
    if (wants("/Thermal")) add_old_thermal(tree, view);
    if (wants("/Power")) add_old_power(tree, view);
  }
  if (style == SensorStyle::legacy) return;
  if (wants("/Sensors")) add_all_sensors(tree, view);
  if (wants("/PowerSubsystem")) add_power_subsystem(tree, view);
  if (wants("/ThermalSubsystem")) add_thermal_subsystem(tree, view);
  if (wants("/EnvironmentMetrics")) add_environment(tree, view);
}

}  // namespace cupel::rehearsal
