#pragma once
// What read_sensors has gathered so far, for the files that add to it: sensors.cpp, coolant.cpp.
// Not for anybody else.
#include <map>
#include <set>

#include "bmc/redfish/machine.h"
#include "bmc/redfish/sensors.h"

namespace cupel::bmc::redfish {

/// Collects each sensor once. Rows of one array are different sensors, whatever their names (HPE:
/// three called "38-PCI 5-I/O module"); the same name in another resource is the same sensor again,
/// be it of another chassis (DGX H100: the boards repeat the whole machine's).
class Readings {
 public:
  Readings(Survey& survey, Sensors& found) : survey{survey}, found_{found} {}

  void add(Sensor sensor);
  bool is_known(std::string_view name) const;
  /// From now on the same names are other sensors'.
  void forget_names() { named_.clear(); }
  bool may_ask() const { return survey.seen().requests < kMostSensorRequests; }
  void whole_machine(std::optional<double> watts) {
    if (!found_.watts && watts && *watts > 0) found_.watts = watts;
  }
  bool has_watts() const { return found_.watts.has_value(); }

  Survey& survey;

 private:
  Sensors& found_;
  std::set<std::string> sources_{};
  std::map<std::string, std::string> named_{};  // lower case; the resource that has it
};

std::string name_of(const json::value& body, std::string_view uri);
void set_thresholds(Sensor& sensor, const json::value& body, double factor);

/// A resource or a row of an array, whose value is at `reading`.
Sensor row(SensorKind kind, const Document& from, const char* reading, std::string_view unit);

/// What `body` links to; nothing where it does not, or where enough was asked.
Task<std::optional<Document>> linked(Readings& to, const json::value& body, const char* path,
                                     const char* fact);

// coolant.cpp

/// Source: DSP0268, LeakDetector.DetectorState, of what links to a LeakDetection.
Task<void> read_leaks(Readings& to, const Document& of);

/// Source: DSP0268, CoolantConnector, of the collection at `path`.
Task<void> read_connectors(Readings& to, const Document& of, const char* path);

/// The cooling of a rack, where its controller shows any.
/// Source: DSP0268, ServiceRoot.ThermalEquipment (CDUs, HeatExchangers, ImmersionUnits,
/// CoolingLoops).
Task<void> read_thermal_equipment(Readings& to, const Machine& machine);

}  // namespace cupel::bmc::redfish
