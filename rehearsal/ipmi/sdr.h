#pragma once
// The SDR repository: records made of the table of sensors, and of the FRUs. Source: IPMI 2.0, 43.
#include "rehearsal/ipmi/fru.h"
#include "rehearsal/ipmi/sensors.h"

namespace cupel::rehearsal::ipmi {

/// Record n has number n + 1, which is its first two bytes.
std::vector<Bytes> sdr_of(const std::vector<Sensor>& sensors, const std::vector<Fru>& frus);

/// Which of a sensor's thresholds there are, as masks and as raw values in table 35-2's order:
/// lower non-critical, lower critical, lower non-recoverable, then the upper ones.
std::uint8_t threshold_mask(const Sensor& sensor);
std::array<std::uint8_t, 6> raw_thresholds(const Sensor& sensor);

}  // namespace cupel::rehearsal::ipmi
