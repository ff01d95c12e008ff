#pragma once
// What read_sensors has gathered so far, for the files that add to it: sensors.cpp,
// coolant.cpp, leaks.cpp, equipment.cpp.
// Not for anybody else.
#include <map>
#include <set>

#include "base/text.h"
#include "bmc/redfish/machine.h"
#include "bmc/redfish/sensors.h"

namespace cupel::bmc::redfish {

/// Collects each sensor once. Rows of one array are different sensors, whatever their names (HPE:
/// three called "38-PCI 5-I/O module"). A name comes again for the same sensor where a resource
/// repeats an array's row, or where a chassis repeats what the one shows that it is in (DGX H100).
/// In any other chassis, of another kind, or of another Id, it is another sensor (Cray EX: each
/// Mezz has a "PCB Temperature").
class Readings {
 public:
  Readings(Survey& survey, Sensors& found) : survey{survey}, found_{found} {}

  /// Which chassis is in which. Call it before the first begin().
  void learn_nesting(const std::vector<Document>& chassis);
  /// What is added from now on is of this chassis, cooling unit or System.
  void begin(std::string_view uri);
  void add(Sensor sensor);
  /// Whether a sensor of that name or Id was added for this chassis, or one that it is in or holds.
  bool is_known(std::string_view name) const;
  /// Whether one was added at all.
  bool is_known_anywhere(std::string_view name) const;
  /// Names apart what has one name and one kind in several places: "PCB Temperature (Mezz0)". At
  /// the end.
  void name_apart();
  bool may_ask() const { return survey.seen().requests < kMostSensorRequests; }
  void whole_machine(std::optional<double> watts) {
    if (!found_.watts && watts && *watts > 0) found_.watts = watts;
  }
  bool has_watts() const { return found_.watts.has_value(); }

  Survey& survey;

 private:
  /// A sensor that goes by a name.
  struct Bearer {
    SensorKind kind;
    std::string document;  // its resource, or the one whose row it is
    bool is_row;
    std::string of;  // chassis
  };
  bool is_related(const std::string& one, const std::string& other) const;
  bool is_within(std::string inner, const std::string& outer) const;
  bool is_same(const Bearer& one, const Bearer& other) const;

  Sensors& found_;
  std::string of_{};
  std::vector<std::string> homes_{};              // of each sensor found: its chassis
  std::map<std::string, std::string> parents_{};  // a chassis; the one that it is in
  std::set<std::string> sources_{};
  std::multimap<std::string, Bearer> named_{};       // lower case
  std::multimap<std::string, std::string> known_{};  // by name, and by Id: chassis
};

std::string name_of(const json::value& body, std::string_view uri);
void set_thresholds(Sensor& sensor, const json::value& body, double factor);

/// A resource or a row of an array, whose value is at `reading`.
Sensor row(SensorKind kind, const Document& from, const char* reading, std::string_view unit);

/// What `body` links to; nothing where it does not, or where enough was asked.
Task<std::optional<Document>> linked(Readings& to, const json::value& body, const char* path,
                                     const char* fact);

// leaks.cpp

/// The detectors of what links to a LeakDetection, by their members and by their groups. `sensors`:
/// the collection that holds the sensors behind them, by their Ids; empty: none does.
/// Source: DSP0268, LeakDetection, LeakDetector.
Task<void> read_leaks(Readings& to, const Document& of, std::string sensors);
/// Those that a chassis links to by itself. Source: DSP0268, Chassis.LeakDetectors.
Task<void> read_leak_detectors(Readings& to, const Document& chassis);

// equipment.cpp

/// What a rack's shelves, PDUs and busbars measure, where their controller shows any.
/// Source: DSP0268, ServiceRoot.PowerEquipment, PowerDistribution, PowerDistributionMetrics,
/// Circuit.
Task<void> read_power_equipment(Readings& to, const Machine& machine);

// coolant.cpp

/// Source: DSP0268, CoolantConnector, of the collection at `path`.
Task<void> read_connectors(Readings& to, const Document& of, const char* path);

/// The cooling of a rack, where its controller shows any.
/// Source: DSP0268, ServiceRoot.ThermalEquipment (CDUs, HeatExchangers, ImmersionUnits,
/// CoolingLoops).
Task<void> read_thermal_equipment(Readings& to, const Machine& machine);

}  // namespace cupel::bmc::redfish
