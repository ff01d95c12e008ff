#pragma once
// What a BMC measures, in Redfish's three generations: Thermal and Power with their arrays,
// Sensors, and the subsystems with EnvironmentMetrics. Not telemetry: one look, now.
#include "bmc/redfish/fetch.h"
#include "bmc/sensor.h"

namespace cupel::bmc::redfish {

/// Reads them all, each once: what an array tells is not asked for again as a Sensor. At most
/// kMostSensorRequests; what was left out is noted. Errors: as find_machine.
/// Source: DSP0268, Thermal, Power, Sensor, EnvironmentMetrics, ThermalSubsystem, PowerSubsystem,
/// LeakDetector.
Task<Result<Sensors>> read_sensors(Fetch& fetch, Deadline deadline);

constexpr int kMostSensorRequests = 500;

/// One Sensor resource. Its unit decides what it is, and where there is none, its ReadingType.
Sensor parse_sensor(const json::value& body, std::string uri);

}  // namespace cupel::bmc::redfish
