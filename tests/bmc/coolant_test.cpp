// Liquid cooling, laid out as the standard has it. No captured machine shows any.
#include "base/text.h"
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

class Coolant : public ReadingTree {
 protected:
  void add_connector(const std::string& collection, std::string_view text) {
    tree.documents[collection] = list_of({collection + "/1"});
    put(collection + "/1", text);
  }
  static std::map<std::string, std::string> reported(const Sensors& seen) {
    std::map<std::string, std::string> all;
    for (const auto& one : seen.sensors)
      all[one.name] = one.value ? plain(*one.value) + " " + one.unit : one.state;
    return all;
  }
};

TEST_F(Coolant, OfAChassisIsReadFromItsConnectors) {
  const std::string subsystem = std::string{kChassis} + "/ThermalSubsystem";
  at(kChassis)["ThermalSubsystem"] = link_to(subsystem);
  tree.documents[subsystem] =
      json::object{{"CoolantConnectors", link_to(subsystem + "/CoolantConnectors")},
                   {"LeakDetection", link_to(subsystem + "/LeakDetection")}};
  add_connector(subsystem + "/CoolantConnectors",
                R"({"Name": "inlet", "FlowLitersPerMinute": {"Reading": 8.5},
                    "SupplyTemperatureCelsius": {"Reading": 32}, "DeltaPressurekPa": null})");
  put(subsystem + "/LeakDetection", R"({"LeakDetectors": {"@odata.id":
      "/redfish/v1/Chassis/1/ThermalSubsystem/LeakDetection/LeakDetectors"}})");
  add_connector(subsystem + "/LeakDetection/LeakDetectors",
                R"({"Name": "tray", "DetectorState": "Warning", "Status": {"Health": "Warning"}})");

  const auto seen = sensors();

  EXPECT_EQ(reported(seen),
            (std::map<std::string, std::string>{
                {"inlet flow", "8.5 L/min"}, {"inlet supply", "32 °C"}, {"tray", "Warning"}}));
}

TEST_F(Coolant, OfARackIsReadFromItsUnitsAndLoops) {
  const std::string equipment = "/redfish/v1/ThermalEquipment";
  const std::string cdu = equipment + "/CDUs/1", loop = equipment + "/CoolingLoops/1";
  at(kRoot)["ThermalEquipment"] = link_to(equipment);
  tree.documents[equipment] = json::object{{"CDUs", link_to(equipment + "/CDUs")},
                                           {"CoolingLoops", link_to(equipment + "/CoolingLoops")}};
  tree.documents[equipment + "/CDUs"] = list_of({cdu});
  tree.documents[equipment + "/CoolingLoops"] = list_of({loop, equipment + "/CoolingLoops/2"});
  tree.documents[cdu] = json::object{{"PrimaryCoolantConnectors", link_to(cdu + "/Primary")},
                                     {"SecondaryCoolantConnectors", link_to(cdu + "/Secondary")}};
  tree.documents[loop] = json::object{{"PrimaryCoolantConnectors", link_to(loop + "/Primary")}};
  add_connector(cdu + "/Primary", R"({"Name": "facility", "HeatRemovedkW": {"Reading": 50}})");
  add_connector(cdu + "/Secondary", R"({"Name": "rack", "ReturnTemperatureCelsius": "45.5"})");
  add_connector(loop + "/Primary", R"({"Name": "loop", "SupplyPressurekPa": {"Reading": 210}})");

  const auto seen = sensors();

  EXPECT_EQ(reported(seen),
            (std::map<std::string, std::string>{{"facility heat removed", "50000 W"},
                                                {"rack return", "45.5 °C"},
                                                {"loop supply pressure", "210 kPa"}}));
  EXPECT_TRUE(is_unknown(seen.unknown, "CoolingLoops 2"));
}

}  // namespace
}  // namespace cupel::bmc
