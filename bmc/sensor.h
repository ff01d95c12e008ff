#pragma once
// What a BMC measures, in one shape for Redfish and IPMI.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/parts.h"

namespace cupel::bmc {

enum class Protocol;

enum class SensorKind {
  power,        // W
  energy,       // J
  temperature,  // °C
  fan,          // RPM or %
  voltage,      // V
  current,      // A
  humidity,     // %
  flow,         // L/min, of coolant
  pressure,     // kPa, of coolant
  leak,         // a state
  redundancy,   // a state: of PSUs, of fans
  other,
};

std::string_view to_string(SensorKind kind);

/// One sensor. Nothing in `value` is "not read", never zero.
struct Sensor {
  SensorKind kind = SensorKind::other;
  std::string name{};  // as the BMC calls it
  std::optional<double> value{};
  std::string unit{};    // "W", "°C", "RPM", "%", "V", "A", "L/min", "kPa", "J"; empty: a state
  std::string state{};   // of what has no number: "OK", "Leak", "Fully redundant"; as reported
  std::string health{};  // "OK", "Warning", "Critical"; empty: not reported
  std::optional<double> warn_below{}, warn_above{}, critical_below{}, critical_above{};
  std::string source{};  // URI, or "ipmi:sdr/0x0012"
  friend bool operator==(const Sensor&, const Sensor&) = default;
};

struct Sensors {
  std::vector<Sensor> sensors{};
  std::optional<double> watts{};  // what the whole machine draws
  std::vector<inventory::Unknown> unknown{};
  Protocol by{};
};

}  // namespace cupel::bmc
