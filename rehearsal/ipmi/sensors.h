#pragma once
// What a virtual machine's BMC measures, as a table: each row says what it is, when it can be read
// and what it then reads. sdr.h makes records of it. What Redfish shows too reads the same there.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/ipmi/bytes.h"
#include "rehearsal/managed_system.h"

namespace cupel::rehearsal::ipmi {

/// Table 42-3.
enum class SensorType : std::uint8_t {
  temperature = 0x01,
  voltage = 0x02,
  fan = 0x04,
  power_supply = 0x08,
  other_units = 0x0B,
  memory = 0x0C,
  drive_slot = 0x0D,
  event_log = 0x10,
  boot = 0x1D,
  acpi = 0x22,
};

/// Table 43-15.
enum class Unit : std::uint8_t { none = 0, celsius = 1, volts = 4, watts = 6, rpm = 18 };

/// Where a fault of a part is logged, by a sensor that cannot be read.
inline constexpr std::uint8_t kDimmSensor = 0x70, kGpuEccSensor = 0x71, kDriveSensor = 0x72,
                              kBootSensor = 0x73, kSelSensor = 0x74;
inline constexpr std::uint8_t kPsuSensor = 0x50;  // and the bays behind it
inline constexpr std::uint8_t kRedundancySensor = 0x58, kAcpiSensor = 0x60;

/// Raw values, 0 where there is none; the order of table 35-2.
struct Thresholds {
  std::optional<double> lower_warning{}, lower_critical{}, upper_warning{}, upper_critical{};
};

struct Sensor {
  std::uint8_t number = 0;
  std::string name{};  // at most 16 characters
  std::uint8_t entity = 0, instance = 1;
  SensorType type{};
  std::uint8_t event_type = 0x01;  // 01h: a threshold sensor
  Unit unit = Unit::none;
  int m = 1, r_exp = 0;  // reading = raw * m * 10^r_exp
  Thresholds thresholds{};
  bool standby = false;                                         // reads while the machine is off
  std::uint16_t possible = 0;                                   // states of a discrete one
  std::function<double(const ManagedSystem&)> value{};          // of a threshold one
  std::function<std::uint16_t(const ManagedSystem&)> states{};  // of a discrete one

  bool analog() const { return event_type == 0x01; }
  bool event_only() const { return !value && !states; }
  std::uint8_t raw(double reading) const;
};

/// `whole`: the machine with every part in its place, so that an empty bay has its sensor too.
std::vector<Sensor> sensors_of(const Hardware& whole);

/// Nothing while it cannot be read.
std::optional<std::uint8_t> reading(const Sensor& sensor, const ManagedSystem& machine);
/// Bit 0 lower non-critical, 1 lower critical, 3 upper non-critical, 4 upper critical (35.14).
std::uint8_t crossed(const Sensor& sensor, std::uint8_t raw);

}  // namespace cupel::rehearsal::ipmi
