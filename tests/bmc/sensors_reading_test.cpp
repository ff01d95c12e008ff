// Which readings are one sensor reported twice, and which are several of one name.
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

class SensorsReading : public ReadingTree {
 protected:
  /// Chassis of these names, each with an empty list of sensors.
  void chassis(const std::vector<std::string>& names) {
    std::vector<std::string> uris;
    for (const auto& name : names) {
      uris.push_back("/redfish/v1/Chassis/" + name);
      tree.documents[uris.back()] =
          json::object{{"ChassisType", "Card"}, {"Sensors", link_to(uris.back() + "/Sensors")}};
      tree.documents[uris.back() + "/Sensors"] = list_of({});
    }
    tree.documents["/redfish/v1/Chassis"] = list_of(uris);
  }
  void sensor(const std::string& of, const std::string& id, const std::string& name, double reading,
              const char* type = "Temperature") {
    const auto collection = "/redfish/v1/Chassis/" + of + "/Sensors";
    const auto uri = collection + "/" + id;
    tree.documents[uri] = json::object{{"Name", name}, {"Reading", reading}, {"ReadingType", type}};
    at(collection)["Members"].as_array().push_back(link_to(uri));
  }
  std::vector<std::string> read_names() {
    std::vector<std::string> reported;
    for (const auto& one : sensors().sensors)
      reported.push_back(one.name + " " + plain(one.value.value_or(-1)) + one.unit);
    return reported;
  }
};

// Cray EX: each of two cards has the same sensors.
TEST_F(SensorsReading, OfOneNameInTwoChassisAreTwoAndNamedByTheirChassis) {
  chassis({"Mezz0", "Mezz1"});
  sensor("Mezz0", "Board0SystemBoard0Temperature", "PCB Temperature", 38);
  sensor("Mezz1", "Board1SystemBoard0Temperature", "PCB Temperature", 35);
  sensor("Mezz1", "Board1SystemBoard1Temperature", "uC Temperature", 30);

  EXPECT_THAT(read_names(), ElementsAre("PCB Temperature (Mezz0) 38°C",
                                        "PCB Temperature (Mezz1) 35°C", "uC Temperature 30°C"));
}

TEST_F(SensorsReading, OfOneNameAndOneIdInTwoChassisAreTwo) {
  chassis({"Node0", "Node1"});
  for (const auto* node : {"Node0", "Node1"}) sensor(node, "CPU0Temperature", "CPU0", 51);

  EXPECT_THAT(read_names(), ElementsAre("CPU0 (Node0) 51°C", "CPU0 (Node1) 51°C"));
}

// DGX H100: the CPU's board shows what the whole machine shows, a moment later.
TEST_F(SensorsReading, ListsTheSensorsOfANestedChassisOnce) {
  chassis({"DGX", "CPUBaseboard"});
  at("/redfish/v1/Chassis/CPUBaseboard")["Links"] =
      json::object{{"ContainedBy", link_to("/redfish/v1/Chassis/DGX/")}};
  sensor("DGX", "TEMP_CPU0", "TEMP_CPU0", 55);
  sensor("CPUBaseboard", "TEMP_CPU0", "TEMP_CPU0", 56);

  EXPECT_THAT(read_names(), ElementsAre("TEMP_CPU0 55°C"));
}

TEST_F(SensorsReading, OfOneNameInOneChassisAreNamedByTheirIds) {
  chassis({"System"});
  sensor("System", "NIC.Slot.2-1-1-TempSensor.1", "Temp Sensor.1", 51);
  sensor("System", "NIC.Slot.5-1-1-TempSensor.1", "Temp Sensor.1", 49);

  EXPECT_THAT(read_names(), ElementsAre("Temp Sensor.1 (NIC.Slot.2-1-1-TempSensor.1) 51°C",
                                        "Temp Sensor.1 (NIC.Slot.5-1-1-TempSensor.1) 49°C"));
}

TEST_F(SensorsReading, OfOneNameAndTwoKindsAreTwo) {
  chassis({"Enclosure"});
  sensor("Enclosure", "RegulatorInputPower", "12V_HSS ECB", 99, "Power");
  sensor("Enclosure", "RegulatorInputVoltage", "12V_HSS ECB", 12, "Voltage");

  EXPECT_THAT(read_names(), ElementsAre("12V_HSS ECB 99W", "12V_HSS ECB 12V"));
}

/// Arrays that tell the temperatures and the watts of the machine, and Sensors beside them.
class BesideArrays : public SensorsReading {
 protected:
  BesideArrays() {
    chassis({"1"});
    at(kChassis)["ChassisType"] = "RackMount";
    for (const auto* array : {"Thermal", "Power"})
      at(kChassis)[array] = link_to(std::string{kChassis} + "/" + array);
    put("/redfish/v1/Chassis/1/Thermal", R"({"Fans": [],
        "Temperatures": [{"Name": "System Board Inlet Temp", "ReadingCelsius": 25}]})");
    put("/redfish/v1/Chassis/1/Power",
        R"({"PowerSupplies": [], "PowerControl": [{"Name": "All", "PowerConsumedWatts": 700}]})");
  }
};

// Dell with two BlueFields.
TEST_F(BesideArrays, ReadsOnlySensorsThatTheArraysLack) {
  sensor("1", "SystemBoardInletTemp", "System Board Inlet Temp", 26);
  sensor("1", "Inlet", "System Board Inlet Temp", 26);
  sensor("1", "Drive.Bay.0_Temp", "NVMe 0", 39);

  EXPECT_THAT(read_names(), ElementsAre("System Board Inlet Temp 25°C", "All 700W", "NVMe 0 39°C"));
  EXPECT_FALSE(tree.was_asked("/redfish/v1/Chassis/1/Sensors/SystemBoardInletTemp"));
}

// Lenovo: more than 200, each a request, that have no value.
TEST_F(BesideArrays, NotesSensorsBeyondTheLimit) {
  for (int i = 0; i < 50; ++i) sensor("1", std::to_string(i) + "L0", "DIMM " + plain(i), 0);

  const auto seen = sensors();

  EXPECT_EQ(seen.sensors.size(), 2u);
  EXPECT_TRUE(is_unknown(seen.unknown, "50 sensors"));
}

}  // namespace
}  // namespace cupel::bmc
