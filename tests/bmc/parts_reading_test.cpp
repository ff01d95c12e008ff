// What counts as which part: machines that show one part twice, or one kind as another.
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

using inventory::PartKind;

class PartsReading : public ReadingTree {
 protected:
  void add_collection(const std::string& of, const std::string& name,
                      const std::vector<std::string>& members) {
    at(of)[name] = link_to(of + "/" + name);
    tree.documents[of + "/" + name] = list_of(members);
  }
  static std::vector<std::string> names(const Observed& seen, PartKind kind) {
    std::vector<std::string> names;
    for (const auto& part : seen.parts)
      if (part.kind == kind) names.push_back(part.name + " " + part.slot);
    return names;
  }
};

/// A GH200: the host's System knows nothing of itself but its two CPUs; its baseboard has them
/// again under other names.
class Gh200 : public PartsReading {
 protected:
  Gh200() {
    tree.documents[kSystems] = list_of({kSystem, kBoard});
    for (const auto* property : {"Manufacturer", "Model", "SerialNumber", "SKU", "PartNumber"})
      at(kSystem).erase(property);
    put(kBoard, R"({"PowerState": "On", "Manufacturer": "NVIDIA", "Model": "",
        "SerialNumber": "1580924760074", "PartNumber": "694-24486-0000-EV2"})");
    for (const auto* number : {"0", "1"}) {
      add_cpu(std::string{kSystem} + "/Processors/CPU_" + number, number,
              R"("0x00000001780A01851000000)" + std::string{number} + "\"");
      add_cpu(std::string{kBoard} + "/Processors/HGX_CPU_" + number, number, "null");
    }
    for (const std::string system : {kSystem, kBoard}) {
      const auto cpu = system + "/Processors/" + (system == kBoard ? "HGX_" : "") + "CPU_";
      add_collection(system, "Processors", {cpu + "0", cpu + "1"});
    }
  }
  void add_cpu(const std::string& uri, const std::string& number, const std::string& serial) {
    put(uri, R"({"ProcessorType": "CPU", "Model": "Grace A02", "TotalCores": 72,
        "Socket": "G1:)" +
                 number + R"(.0", "SerialNumber": )" + serial + "}");
  }
  static constexpr const char* kBoard = "/redfish/v1/Systems/HGX_Baseboard_0";
};

TEST_F(Gh200, CountsACpuOnceThatHostAndBaseboardShow) {
  EXPECT_THAT(names(inventory(), PartKind::cpu), ElementsAre("cpu0 G1:0.0", "cpu1 G1:1.0"));
}

TEST_F(Gh200, CountsACpuOnceWhoseSocketIsLostOnOneSide) {
  at(std::string{kBoard} + "/Processors/HGX_CPU_1").erase("Socket");

  EXPECT_THAT(names(inventory(), PartKind::cpu), ElementsAre("cpu0 G1:0.0", "cpu1 G1:1.0"));
}

TEST_F(Gh200, CountsCpusTwiceThatHaveTwoSerialNumbers) {
  at(std::string{kBoard} + "/Processors/HGX_CPU_1")["SerialNumber"] = "0x77";

  EXPECT_EQ(names(inventory(), PartKind::cpu).size(), 3u);
}

TEST_F(Gh200, HasTheSerialNumberAndMakerOfItsBaseboard) {
  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "1580924760074");
  EXPECT_EQ(part(seen, "system").serial, "1580924760074");
  EXPECT_EQ(part(seen, "system").manufacturer, "NVIDIA");
  EXPECT_EQ(part(seen, "system").part_number, "694-24486-0000-EV2");
}

TEST_F(Gh200, IsKnownByItsChassisWhereOneIsTheWholeMachine) {
  put(kChassis, R"({"ChassisType": "RackMount", "SerialNumber": "1333024020524"})");

  EXPECT_EQ(inventory().identity.serial, "1333024020524");
}

// A server on an HGX board, whose BMC lost the serial number for a moment.
TEST_F(Gh200, HasNoSerialNumberWhereItsSystemHasAnEmptyOne) {
  at(kSystem)["SerialNumber"] = "";

  EXPECT_EQ(inventory().identity.serial, "");
}

TEST_F(PartsReading, TheVendorOfAMachineThatCupelDoesNotKnowIsItsManufacturer) {
  at(kSystem)["Manufacturer"] = "Contoso";

  EXPECT_EQ(inventory().identity.vendor, "Contoso");
}

// Intel S2600BPB: what is read of it is a Card, and its RackMount an error.
TEST_F(PartsReading, PsusAndFansOfACardAreFoundWhereNoWholeChassisHasAny) {
  const std::string card = "/redfish/v1/Chassis/1/Baseboard";
  tree.documents["/redfish/v1/Chassis"] = list_of({kChassis, card});
  tree.errors.emplace(kChassis, Error{Code::kFailed, "n: GET /redfish/v1/Chassis/1: HTTP 500"});
  put(card, R"({"ChassisType": "Card", "Power": {"@odata.id": "/redfish/v1/Chassis/1/Power"},
      "Thermal": {"@odata.id": "/redfish/v1/Chassis/1/Thermal"}})");
  put("/redfish/v1/Chassis/1/Power",
      R"({"PowerSupplies": [{"Model": "PSSF222201A", "SerialNumber": "CNS2"}]})");
  put("/redfish/v1/Chassis/1/Thermal", R"({"Fans": [{"Name": "Sys Fan 1A"}]})");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "psu0").serial, "CNS2");
  EXPECT_EQ(part(seen, "fan0").slot, "Sys Fan 1A");
}

// HGX: each of its forty modules lists its own fans, and has none.
TEST_F(PartsReading, ModulesAreNotAskedForFansWhereAWholeChassisShowsThem) {
  const std::string module = "/redfish/v1/Chassis/HGX_GPU_SXM_1";
  tree.documents["/redfish/v1/Chassis"] = list_of({module, kChassis});
  at(kChassis)["Thermal"] = link_to("/redfish/v1/Chassis/1/Thermal");
  put("/redfish/v1/Chassis/1/Thermal", R"({"Fans": [{"Name": "Fan 1"}]})");
  put(module, R"({"ChassisType": "Module",
      "ThermalSubsystem": {"@odata.id": "/redfish/v1/Chassis/HGX_GPU_SXM_1/ThermalSubsystem"}})");

  EXPECT_EQ(part(inventory(), "fan0").slot, "Fan 1");
  EXPECT_FALSE(tree.was_asked(module + "/ThermalSubsystem"));
}

/// An HPE whose GPUs are in a list of the vendor's own, between slots that are empty.
class DeviceList : public PartsReading {
 protected:
  DeviceList() {
    at(kSystem)["Manufacturer"] = "HPE";
    put(kChassis, R"({"ChassisType": "RackMount",
        "Oem": {"Hpe": {"Links": {"Devices": {"@odata.id": "/redfish/v1/Chassis/1/Devices"}}}}})");
  }
  /// `devices`: one of each, in the order of their numbers.
  void list(const std::vector<std::string>& devices) {
    std::vector<std::string> uris;
    for (const auto& device : devices) {
      uris.push_back("/redfish/v1/Chassis/1/Devices/" + std::to_string(uris.size() + 1));
      put(uris.back(), device);
    }
    tree.documents["/redfish/v1/Chassis/1/Devices"] = list_of(uris);
  }
  static std::string gpu(const std::string& slot) {
    return R"({"Name": "NVIDIA A40", "DeviceType": "GPU", "Location": "PCI-E Slot )" + slot +
           R"(", "SerialNumber": "13251200)" + slot + R"(", "Status": {"State": "Enabled"}})";
  }
  static std::string empty(const std::string& slot) {
    return R"({"Name": "Empty slot )" + slot + R"(", "DeviceType": "Unknown",
        "Location": "PCI-E Slot )" +
           slot + R"(", "Status": {"State": "Absent"}})";
  }
  static constexpr const char* kVideo =
      R"({"Name": "Embedded Video Controller", "DeviceType": "Unknown",
          "Location": "Embedded Device", "Status": {"Health": "OK", "State": "Enabled"}})";
};

// XL675d with eight A40s.
TEST_F(DeviceList, AnEmptySlotBetweenTwoGpusTakesNoNumber) {
  list({gpu("3"), empty("4"), gpu("5"), empty("6"), gpu("7"), empty("8"), kVideo});

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::gpu),
              ElementsAre("gpu0 PCI-E Slot 3", "gpu1 PCI-E Slot 5", "gpu2 PCI-E Slot 7"));
  for (const auto& unknown : seen.unknown)
    EXPECT_THAT(unknown.fact, ::testing::Not(HasSubstr("numbers of the GPUs")));
}

TEST_F(DeviceList, AGpuThatIsAbsentAndOneOfUnknownKindKeepTheirNumbers) {
  auto absent = gpu("5");
  absent.replace(absent.find("Enabled"), 7, "Absent");
  list({gpu("3"), absent, gpu("7"), empty("8"), R"({"Name": "?"})", gpu("10")});

  EXPECT_THAT(names(inventory(), PartKind::gpu),
              ElementsAre("gpu0 PCI-E Slot 3", "gpu2 PCI-E Slot 7", "gpu4 PCI-E Slot 10"));
}

}  // namespace
}  // namespace cupel::bmc
