#pragma once
// What a BMC's sensors say, by their records: see bmc/sensor.h for the shape.
#include "bmc/ipmi/repository.h"
#include "bmc/sensor.h"

namespace cupel::bmc::ipmi {

/// Asks every readable sensor of the BMC itself. One that has no reading has none, and is listed
/// all the same; one behind another controller, or with a formula that is the vendor's own, is
/// unknown. Errors: kTimeout, kUnreachable, kCancelled, kRefused: the rest is not asked.
/// Source: IPMI 2.0, 35.9, 35.14.
Task<Result<Sensors>> read_sensors(Client& client, const Repository& repository, Deadline deadline);

/// Get Sensor Reading's answer for one sensor. Pure; `thresholds` as the sensor has them now.
/// Nothing in `value` and `state` where the BMC says that there is none.
Sensor understood(const SensorRecord& record, View reading, const Thresholds& thresholds);

/// Get Sensor Thresholds' answer.
Thresholds parse_thresholds(View reported);

SensorKind kind_of(const SensorRecord& record);

}  // namespace cupel::bmc::ipmi
