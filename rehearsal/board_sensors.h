#pragma once
// What the sensors on a machine's boards measure now: all that a BMC can read of its heat, power
// and fans. Not what a BMC makes of them (bmc/sensors.cpp, ipmi/sensors.h).
#include <string>

namespace cupel::rehearsal {

class BoardSensors {
 public:
  virtual ~BoardSensors() = default;

  virtual double node_watts() const = 0;
  /// What one supply takes from the wall; 0 for one without input.
  virtual double psu_watts(const std::string& psu) const = 0;
  virtual bool psu_has_input(const std::string& psu) const = 0;
  virtual double inlet_celsius() const = 0;
  virtual double cpu_celsius(int socket) const = 0;
  /// `index`: the position on the baseboard, as Gpu::index.
  virtual double gpu_celsius(int index) const = 0;
  /// Counted from 0. 0 for one that is stuck, or of a machine that is off.
  virtual double fan_rpm(int fan) const = 0;
  /// Per cent of the fans' most.
  virtual double fan_percent() const = 0;
};

}  // namespace cupel::rehearsal
