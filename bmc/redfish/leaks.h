#pragma once
// A machine's leak detectors alone. With all else that it measures: sensors.h.
#include "bmc/redfish/fetch.h"
#include "bmc/sensor.h"

namespace cupel::bmc::redfish {

/// The detectors of all chassis. Errors: as find_machine.
/// Source: DSP0268, ThermalSubsystem, LeakDetection, LeakDetector.
Task<Result<Sensors>> read_leak_sensors(Fetch& fetch, Deadline deadline);

}  // namespace cupel::bmc::redfish
