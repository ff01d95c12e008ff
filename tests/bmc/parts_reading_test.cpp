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

/// A BMC that shows its NVSwitches in none of its chassis.
class NvLinkFabric : public PartsReading {
 protected:
  NvLinkFabric() {
    const std::string nvlink = kFabrics + "/HGX_NVLinkFabric_0";
    add_fabric(nvlink, R"("NVLink")",
               {nvlink + "/Switches/NVSwitch_1", nvlink + "/Switches/NVSwitch_0"});
    const std::string storage = kFabrics + "/DE00A000";
    add_fabric(storage, R"("MultiProtocol")", {storage + "/Switches/1"});
    const std::string retimers = kFabrics + "/HGX_PCIeRetimerTopology_0";
    add_fabric(retimers, R"("PCIe")", {retimers + "/Switches/PCIeRetimer_0"});
    add_collection(kRoot, "Fabrics", {storage, nvlink, retimers});
  }
  void add_fabric(const std::string& uri, const std::string& type,
                  const std::vector<std::string>& switches) {
    put(uri, R"({"FabricType": )" + type + "}");
    add_collection(uri, "Switches", switches);
    for (const auto& each : switches)
      put(each, R"({"Model": "NVSwitch", "FirmwareVersion": "96.10.4A.00.01",
          "Status": {"Health": "OK", "State": "Enabled"}})");
  }
  static inline const std::string kFabrics = "/redfish/v1/Fabrics";
};

TEST_F(NvLinkFabric, ShowsTheSwitchesThatNoChassisLinksTo) {
  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::switch_chip), ElementsAre("nvswitch0 ", "nvswitch1 "));
  EXPECT_EQ(part(seen, "nvswitch1").firmware, "96.10.4A.00.01");
  EXPECT_EQ(part(seen, "nvswitch1").source,
            "/redfish/v1/Fabrics/HGX_NVLinkFabric_0/Switches/NVSwitch_1");
  EXPECT_FALSE(tree.was_asked("/redfish/v1/Fabrics/HGX_PCIeRetimerTopology_0"));
  EXPECT_FALSE(tree.was_asked("/redfish/v1/Fabrics/DE00A000/Switches"));
}

TEST_F(NvLinkFabric, IsNotAskedWhereAChassisLinksToItsSwitches) {
  const std::string one = kFabrics + "/HGX_NVLinkFabric_0/Switches/NVSwitch_0";
  put(kChassis,
      R"({"ChassisType": "RackMount", "Links": {"Switches": [{"@odata.id": ")" + one + R"("}]}})");

  EXPECT_THAT(names(inventory(), PartKind::switch_chip), ElementsAre("nvswitch0 "));
  EXPECT_FALSE(tree.was_asked(kFabrics));
}

TEST_F(NvLinkFabric, IsNotWholeWhereItsSwitchesCannotBeRead) {
  const std::string switches = kFabrics + "/HGX_NVLinkFabric_0/Switches";
  tree.errors.emplace(switches, Error{Code::kBusy, "n: GET " + switches + ": HTTP 503"});

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::switch_chip), ElementsAre());
  const auto* partial = inventory::partial_list(seen.partial, PartKind::switch_chip);
  ASSERT_NE(partial, nullptr);
  EXPECT_TRUE(partial->passing);
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

TEST_F(DeviceList, AnAdapterThatIsInTheListAloneIsAPart) {
  const std::string adapter = "/redfish/v1/Chassis/1/NetworkAdapters/DC092000";
  add_collection(kChassis, "NetworkAdapters", {adapter});
  put(adapter, R"({"Name": "HPE Eth 10/25Gb", "SerialNumber": "MY50050V5K"})");
  const auto card = [](const std::string& name, const std::string& serial) {
    return R"({"Name": ")" + name + R"(", "DeviceType": "LOM/NIC", "SerialNumber": ")" + serial +
           R"(", "Location": "PCI-E Slot 18",
        "FirmwareVersion": {"Current": {"VersionString": "1.5.23"}}})";
  };
  list({card("SS11 200Gb 1P NIC PCIE", "EJ21490084"), card("ConnectX-7 200GE 2P NIC", "ILC346018T"),
        card("HPE SN1610Q 32Gb 2p FC HBA", "MY540421JG"), card("HPE Eth 10/25Gb", "MY50050V5K")});

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::nic), ElementsAre("nic0 PCI-E Slot 18", "nic1 PCI-E Slot 18"));
  EXPECT_EQ(part(seen, "nic1").serial, "EJ21490084");
  EXPECT_EQ(part(seen, "nic1").firmware, "1.5.23");
  EXPECT_THAT(names(seen, PartKind::hca), ElementsAre("hca0 PCI-E Slot 18"));
}

// DL380a Gen12: Processors know neither version nor slot of their H200s.
TEST_F(DeviceList, AGpuHasTheVersionAndSlotOfTheDeviceWithItsSerialNumber) {
  const std::string gpu = "/redfish/v1/Systems/1/Processors/3";
  add_collection(kSystem, "Processors", {gpu});
  put(gpu, R"({"ProcessorType": "GPU", "Model": "NVIDIA H200 NVL", "SerialNumber": "13251240"})");
  list({R"({"Name": "NVIDIA H200 NVL", "DeviceType": "GPU", "SerialNumber": "13251240",
      "Location": "PCI-E Slot 13",
      "FirmwareVersion": {"Current": {"VersionString": "96.00.B7.00.02"}}})"});

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::gpu), ElementsAre("gpu0 PCI-E Slot 13"));
  EXPECT_EQ(part(seen, "gpu0").firmware, "96.00.B7.00.02");
}

TEST_F(PartsReading, AFibreChannelHbaIsNoNic) {
  const std::string adapters = "/redfish/v1/Chassis/1/NetworkAdapters";
  add_collection(kChassis, "NetworkAdapters", {adapters + "/1", adapters + "/2"});
  for (const auto* number : {"/1", "/2"}) {
    put(adapters + number, R"({"Model": "Card"})");
    add_collection(adapters + number, "NetworkPorts", {adapters + number + "/NetworkPorts/1"});
  }
  put(adapters + "/1/NetworkPorts/1", R"({"ActiveLinkTechnology": "FibreChannel",
      "AssociatedNetworkAddresses": ["51:40:2E:C0:18:22:21:02"]})");
  put(adapters + "/2/NetworkPorts/1", R"({"ActiveLinkTechnology": "Ethernet",
      "AssociatedNetworkAddresses": ["88:e9:a4:6b:f5:74"]})");

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::nic), ElementsAre("nic0 2"));
  EXPECT_THAT(names(seen, PartKind::pcie), ElementsAre("fc0 1"));
}

// DMTF's server: a VLAN is listed beside the port that it is on. A port of its own may have one.
TEST_F(PartsReading, AVlanIsNoNic) {
  const std::string ports = "/redfish/v1/Systems/1/EthernetInterfaces";
  add_collection(kSystem, "EthernetInterfaces", {ports + "/A", ports + "/VLAN1", ports + "/Z"});
  put(ports + "/A", R"({"MACAddress": "12:44:6A:3B:04:11"})");
  put(ports + "/VLAN1", R"({"MACAddress": "12:44:6A:3B:04:11", "EthernetInterfaceType": "Virtual",
      "VLAN": {"VLANEnable": true, "VLANId": 101}})");
  put(ports + "/Z", R"({"MACAddress": "AA:BB:CC:DD:EE:00", "VLAN": {"VLANEnable": true},
      "PermanentMACAddress": "12:44:6A:3B:88:90"})");

  const auto seen = inventory();

  EXPECT_EQ(names(seen, PartKind::nic).size(), 2u);
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre("12:44:6a:3b:88:90"));
}

// Cray EX: its high-speed NICs are adapters, its management NIC a port of the system.
TEST_F(PartsReading, AManagementPortIsANicBesideTheAdapters) {
  const std::string adapter = "/redfish/v1/Chassis/1/NetworkAdapters/HPCNet0";
  const std::string ports = "/redfish/v1/Systems/1/EthernetInterfaces";
  add_collection(kChassis, "NetworkAdapters", {adapter});
  put(adapter, R"({"Model": "R4K44A"})");
  add_collection(kSystem, "EthernetInterfaces",
                 {ports + "/HPCNet0", ports + "/ManagementEthernet"});
  put(ports + "/ManagementEthernet", R"({"PermanentMACAddress": "00:40:a6:83:3a:52"})");

  const auto seen = inventory();

  EXPECT_THAT(names(seen, PartKind::nic), ElementsAre("nic0 HPCNet0", "nic1 ManagementEthernet"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre("00:40:a6:83:3a:52"));
}

// Cray EX: the first of its managers is the controller of a card; the BMC's version is in the list.
TEST_F(PartsReading, AnAuxiliaryControllerIsNotTheBmc) {
  at(kSystem).erase("Links");
  tree.documents["/redfish/v1/Managers"] = list_of({"/redfish/v1/Managers/MCU0", kManager});
  put("/redfish/v1/Managers/MCU0", R"({"ManagerType": "AuxiliaryController"})");
  at(kManager)["ManagerType"] = "EnclosureManager";
  at(kManager).erase("FirmwareVersion");
  const std::string list = "/redfish/v1/UpdateService/FirmwareInventory";
  put("/redfish/v1/UpdateService",
      R"({"FirmwareInventory": {"@odata.id": "/redfish/v1/UpdateService/FirmwareInventory"}})");
  tree.documents[list] = list_of({list + "/BMC"});
  put(list + "/BMC", R"({"Id": "BMC", "Version": "nc.1.6.16-21"})");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "bmc").source, kManager);
  const auto is_bmc = [](const inventory::Part& one) {
    return one.kind == PartKind::firmware && one.name == "bmc";
  };
  const auto version = std::ranges::find_if(seen.parts, is_bmc);
  ASSERT_NE(version, seen.parts.end());
  EXPECT_EQ(version->firmware, "nc.1.6.16-21");
}

TEST_F(PartsReading, ManagersThatAreNotReadForABmcAreNamed) {
  at(kSystem).erase("Links");
  std::vector<std::string> managers;
  for (int i = 0; i < 9; ++i) {
    managers.push_back("/redfish/v1/Managers/Card" + std::to_string(i));
    put(managers.back(), R"({"ManagerType": "AuxiliaryController"})");
  }
  tree.documents["/redfish/v1/Managers"] = list_of(managers);
  const auto named = [&] {
    return std::ranges::any_of(inventory().unknown, [&](const inventory::Unknown& each) {
      return each.source == managers.back() &&
             each.why == "none of the first 8 managers is a BMC: the rest is not read";
    });
  };

  EXPECT_TRUE(named());

  at(managers[7])["ManagerType"] = "BMC";
  EXPECT_FALSE(named());
}

/// A machine whose GPUs and HCAs keep their versions to the firmware inventory.
class FirmwareList : public PartsReading {
 protected:
  FirmwareList() {
    add_collection(kSystem, "Processors", {kGpu});
    put(kGpu, R"({"ProcessorType": "GPU", "Model": "B200"})");
    put("/redfish/v1/UpdateService",
        R"({"FirmwareInventory": {"@odata.id": "/redfish/v1/UpdateService/FirmwareInventory"}})");
  }
  void adapters(const std::vector<std::string>& names) {
    std::vector<std::string> uris;
    for (const auto& name : names) {
      uris.push_back("/redfish/v1/Chassis/1/NetworkAdapters/" + name);
      put(uris.back(), R"({"Model": "ConnectX-8"})");
    }
    add_collection(kChassis, "NetworkAdapters", uris);
  }
  void version(const std::string& id, const std::string& version, const std::string& of = {}) {
    const std::string list = "/redfish/v1/UpdateService/FirmwareInventory";
    auto body = json::object{{"Id", id}, {"Version", version}};
    if (!of.empty()) body["RelatedItem"] = json::array{link_to(of)};
    tree.documents[list + "/" + id] = std::move(body);
    members_.push_back(list + "/" + id);
    tree.documents[list] = list_of(members_);
  }
  std::vector<std::string> members_;
  static constexpr const char* kGpu = "/redfish/v1/Systems/1/Processors/GPU_0";
};

// GB200: "HGX_FW_GPU_0". Its InfoROM is another version.
TEST_F(FirmwareList, HasTheVersionOfAGpuUnderItsName) {
  version("HGX_InfoROM_GPU_0", "G548.0201.00.03");
  version("HGX_FW_GPU_0", "97.00.6C.00.03");

  EXPECT_EQ(part(inventory(), "gpu0").firmware, "97.00.6C.00.03");
}

TEST_F(FirmwareList, HasTheVersionOfThePartThatItIsRelatedTo) {
  version("7", "97.00.6C.00.03", kGpu);

  EXPECT_EQ(part(inventory(), "gpu0").firmware, "97.00.6C.00.03");
}

// GB200, GB300, GH200: no System has a BiosVersion.
TEST_F(FirmwareList, HasTheBiosThatNoSystemReports) {
  at(kSystem).erase("BiosVersion");
  version("UEFI", "buildbrain-gcid-38635631");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "bios").firmware, "buildbrain-gcid-38635631");
  EXPECT_EQ(seen.identity.bios_version, "buildbrain-gcid-38635631");

  at(kSystem)["BiosVersion"] = "01.05.03";
  EXPECT_EQ(part(inventory(), "bios").firmware, "01.05.03");
}

// GB300: CX8_0 to CX8_3.
TEST_F(FirmwareList, HasTheVersionOfTheOneAdapterThatIsCalledSo) {
  adapters({"HGX_IO_Board_0_CX8_0", "HGX_IO_Board_0_CX8_1"});
  version("CX8_0", "40.46.0500");
  version("CX8_1", "40.46.0600");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "hca0").firmware, "40.46.0500");
  EXPECT_EQ(part(seen, "hca1").firmware, "40.46.0600");
}

// GB200: two boards have a CX7_0 each, and the list one.
TEST_F(FirmwareList, DoesNotGuessWhereSeveralPartsAreCalledSo) {
  adapters({"IO_Board_0_CX7_0", "IO_Board_1_CX7_0"});
  version("CX7_0", "28.42.1234");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "hca0").firmware + part(seen, "hca1").firmware, "");
}

TEST_F(FirmwareList, DoesNotGuessWhereOneOfTheBoardsIsLost) {
  adapters({"IO_Board_1_CX7_0", "IO_Board_1_CX7_1"});
  version("CX7_0", "28.42.1234");

  EXPECT_EQ(part(inventory(), "hca0").firmware, "");
}

// Of a sum that lacks one memory the audit would say that the GPU is too small.
TEST_F(PartsReading, TheSizeOfAGpuIsUnknownWhereThatOfOneOfItsMemoriesIs) {
  const std::string gpu = "/redfish/v1/Systems/1/Processors/GPU_0";
  const std::string memory = "/redfish/v1/Systems/1/Memory/GPU_0_DRAM_";
  add_collection(kSystem, "Processors", {gpu});
  add_collection(kSystem, "Memory", {memory + "0", memory + "1"});
  put(gpu, R"({"ProcessorType": "GPU", "Model": "B300"})");
  put(memory + "0", R"({"MemoryDeviceType": "HBM3E", "CapacityMiB": 147456})");
  put(memory + "1", R"({"MemoryDeviceType": "HBM3E", "CapacityMiB": 0})");

  EXPECT_EQ(part(inventory(), "gpu0").size_bytes, std::nullopt);

  at(memory + "1")["CapacityMiB"] = 147456;
  EXPECT_EQ(part(inventory(), "gpu0").size_bytes, 2.0 * 147456 * 1024 * 1024);

  at(memory + "1")["CapacityMiB"] = nullptr;
  at(gpu)["MemorySummary"] = {{"TotalMemorySizeMiB", 294912}};
  EXPECT_EQ(part(inventory(), "gpu0").size_bytes, 294912.0 * 1024 * 1024);
}

// A GPU that its baseboard does not list any more: the audit names the one that is gone.
TEST_F(PartsReading, AGpuKeepsItsNumberWhenTheOneBeforeItIsGone) {
  const std::string all = "/redfish/v1/Systems/1/Processors";
  std::vector<std::string> uris;
  for (const auto* number : {"1", "2", "4"}) {
    uris.push_back(all + "/GPU_SXM_" + number);
    put(uris.back(), R"({"ProcessorType": "GPU", "Model": "H100"})");
  }
  add_collection(kSystem, "Processors", uris);

  EXPECT_THAT(names(inventory(), PartKind::gpu),
              ElementsAre("gpu0 GPU_SXM_1", "gpu1 GPU_SXM_2", "gpu3 GPU_SXM_4"));
}

TEST(GpuNumbers, AreTheNamesOwnWhereTheseDifferInNothingElse) {
  using redfish::gpu_numbers;
  EXPECT_THAT(gpu_numbers({"GPU_0", "GPU_2"}), ElementsAre(0, 2));
  EXPECT_THAT(gpu_numbers({"GPU1", "GPU2", "GPU8"}), ElementsAre(0, 1, 7));
  EXPECT_THAT(gpu_numbers({"3", "4", "5"}), ElementsAre(0, 1, 2));
  EXPECT_THAT(gpu_numbers({"Video.Slot.21-1", "Video.Slot.22-1"}), ElementsAre(0, 1));
  EXPECT_THAT(gpu_numbers({}), ElementsAre());
}

/// Google's BMCs name no ProcessorType.
TEST_F(PartsReading, TakesForACpuWhatHasACpuid) {
  const auto uri = std::string{kSystem} + "/Processors/0";
  add_collection(kSystem, "Processors", {uri, std::string{kSystem} + "/Processors/1"});
  put(uri, R"({"Name": "CPU0", "ProcessorId": {"VendorId": "GenuineIntel"}, "TotalCores": 28})");
  put(std::string{kSystem} + "/Processors/1", R"({"Name": "what", "TotalCores": 2})");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "cpu0").count, 28);
  EXPECT_EQ(part(seen, "cpu1").name, "");
  EXPECT_TRUE(is_unknown(seen.unknown, "kind of processor"));
}

/// An Intel S2600BPB, and Google's: all versions are software.
TEST_F(PartsReading, ReadsVersionsFromTheListOfSoftwareWhereThereIsNoneOfFirmware) {
  const std::string service = "/redfish/v1/UpdateService", list = service + "/SoftwareInventory";
  put(service, "{}");
  at(service)["SoftwareInventory"] = link_to(list);
  tree.documents[list] = list_of({list + "/ME"});
  put(list + "/ME", R"({"Id": "ME", "Version": "04.01.04.251"})");

  const auto seen = inventory();

  EXPECT_EQ(part(seen, "ME").firmware, "04.01.04.251");
  EXPECT_TRUE(is_unknown(seen.unknown, "firmware")) << "the other list may be lost";
}

/// An Inspur: the link ends in Storages, and the resource does not.
TEST_F(PartsReading, FindsDrivesWhereTheStandardHasThemThoughTheLinkLeadsElsewhere) {
  const auto storage = std::string{kSystem} + "/Storage";
  at(kSystem)["Storage"] = link_to(storage + "s");
  tree.documents[storage] = list_of({storage + "/1"});
  put(storage + "/1", "{}");
  at(storage + "/1")["Drives"] = json::array{link_to(storage + "/1/Drives/0")};
  put(storage + "/1/Drives/0",
      R"({"Protocol": "NVMe", "SerialNumber": "S64FNE0R", "CapacityBytes": 3840755982336})");

  EXPECT_EQ(part(inventory(), "nvme0").serial, "S64FNE0R");
}

/// An iLO 5: cards are in the chassis's list of devices, their ports in the System's list of cards.
class HpeCards : public PartsReading {
 protected:
  HpeCards() {
    at(kSystem)["Manufacturer"] = "HPE";
    const auto links = [&](const std::string& name, const std::string& uri) {
      return json::value{{"Hpe", {{"Links", {{name, link_to(uri)}}}}}};
    };
    at(kChassis)["Oem"] = links("Devices", kDevices);
    at(kSystem)["Oem"] = links("NetworkAdapters", kCards);
    device("1", "MT1845K05471   ");
    device("2", "B4969167D8E8");
    tree.documents[kDevices] = list_of({kDevices + "/1", kDevices + "/2"});
  }
  void device(const std::string& id, const std::string& serial) {
    tree.documents[kDevices + "/" + id] =
        json::object{{"DeviceType", "LOM/NIC"}, {"Name", "Ethernet"}, {"SerialNumber", serial}};
  }
  void card(const std::string& id, const std::string& serial, const std::string& mac) {
    json::object card{{"SerialNumber", serial}};
    card["PhysicalPorts"] = json::array(1, json::object{{"MacAddress", mac}});
    tree.documents[kCards + "/" + id] = std::move(card);
  }
  const std::string kDevices = std::string{kChassis} + "/Devices";
  const std::string kCards = std::string{kSystem} + "/BaseNetworkAdapters";
};

TEST_F(HpeCards, HaveTheMacsOfTheCardWithTheirSerialNumber) {
  card("1", "B4969167D8E8", "b4:96:91:67:d8:e8");
  card("2", "MT1845K05471          ", "98:03:9b:7f:c3:38");
  tree.documents[kCards] = list_of({kCards + "/1", kCards + "/2"});

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "nic0").macs, ElementsAre("98:03:9b:7f:c3:38"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre("b4:96:91:67:d8:e8"));
}

TEST_F(HpeCards, ThatCannotBeReadAreNotMissing) {
  tree.documents.erase(kDevices + "/2");

  const auto seen = inventory();

  EXPECT_NE(inventory::partial_list(seen.partial, inventory::PartKind::nic), nullptr);
}

TEST_F(HpeCards, WithoutASerialNumberInTheListHaveTheMacsOfTheirSlot) {
  at(kDevices + "/1")["Location"] = "PCI-E Slot 18";
  card("1", "", "98:03:9b:7f:c3:38");
  at(kCards + "/1")["Location"] = "PCI-E Slot 18";
  tree.documents[kCards] = list_of({kCards + "/1"});

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "nic0").macs, ElementsAre("98:03:9b:7f:c3:38"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre());
}

/// Of any vendor: an adapter with MACs and one without, and the System's interfaces.
class PortsOfTheSystem : public PartsReading {
 protected:
  PortsOfTheSystem() {
    add_collection(kChassis, "NetworkAdapters", {kAdapters + "/1", kAdapters + "/2"});
    put(kAdapters + "/1", R"({"Model": "X710", "SerialNumber": "X"})");
    add_collection(kAdapters + "/1", "NetworkDeviceFunctions", {kAdapters + "/1/F1"});
    put(kAdapters + "/1/F1", R"({"Ethernet": {"MACAddress": "6c:fe:54:41:15:78"}})");
    put(kAdapters + "/2", R"({"Model": "E810", "SerialNumber": "Y"})");
    add_collection(kSystem, "EthernetInterfaces",
                   {kPorts + "/1", kPorts + "/2", kPorts + "/ToManager", kPorts + "/vlan7"});
    put(kPorts + "/1", R"({"MACAddress": "98:03:9b:7f:c3:38"})");
    // As it is while it is in a bond, and as it was made.
    put(kPorts + "/2",
        R"({"MACAddress": "6c:fe:54:41:15:78", "PermanentMACAddress": "6c:fe:54:41:15:79"})");
    put(kPorts + "/ToManager", R"({"MACAddress": "0a:8f:c3:a5:8a:71", "Links":
        {"HostInterface": {"@odata.id": "/redfish/v1/Managers/1/HostInterfaces/1"}}})");
    put(kPorts + "/vlan7",
        R"({"MACAddress": "98:03:9b:7f:c3:40", "EthernetInterfaceType": "Virtual"})");
  }
  const std::string kAdapters = std::string{kChassis} + "/NetworkAdapters";
  const std::string kPorts = std::string{kSystem} + "/EthernetInterfaces";
};

TEST_F(PortsOfTheSystem, AreThoseOfTheAdapterThatTheyLinkTo) {
  const auto link = [&](json::value links) { at(kPorts + "/1")["Links"] = std::move(links); };
  for (const auto& links :
       {json::value{{"NetworkDeviceFunction", link_to(kAdapters + "/2/NetworkDeviceFunctions/0")}},
        json::value{{"NetworkDeviceFunctions",
                     json::array(1, link_to(kAdapters + "/2/NetworkDeviceFunctions/0"))}},
        json::value{{"Ports", json::array(1, link_to(kAdapters + "/2/Ports/1"))}}}) {
    link(links);

    EXPECT_THAT(part(inventory(), "nic1").macs, ElementsAre("98:03:9b:7f:c3:38"));
  }
}

TEST_F(PortsOfTheSystem, ThatNothingJoinsToACardAreTheMachines) {
  at(kPorts + "/1")["Links"] =
      json::value{{"NetworkDeviceFunction", link_to(kAdapters + "/22/NetworkDeviceFunctions/0")}};

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre());
  EXPECT_TRUE(is_unknown(seen.unknown, "cards of the machine's MACs 98:03:9b:7f:c3:38"));
}

TEST_F(PortsOfTheSystem, AreNotThoseOfAnAdapterThatMayHaveNone) {
  put(kAdapters + "/2", R"({"Model": "ConnectX-7 NDR", "SerialNumber": "Y"})");

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "hca0").macs, ElementsAre());
}

/// As captured of an SR670 V2: its adapters have no functions, and the BIOS names their ports.
TEST_F(PortsOfTheSystem, AreFoundBySlotAmongTheBiosAttributesOfAnXcc) {
  at(kSystem)["Manufacturer"] = "Lenovo";
  const auto bios = std::string{kSystem} + "/Bios";
  at(kSystem)["Bios"] = link_to(bios);
  put(bios, R"({"Attributes": {
      "NvidiaNetworkAdapter_08C0EB53C9F1__Slot3_MACAddress": "08:C0:EB:53:C9:F1",
      "NvidiaNetworkAdapter_08C0EB53C9F0__Slot3_MACAddress": "08:C0:EB:53:C9:F0",
      "NvidiaNetworkAdapter_08C0EB53C9F0__Slot3_VirtualMACAddress": "08:C0:EB:53:C9:AA",
      "BroadcomAdapter__Slot27PhysicalPort1LogicalPort1_PermanentMACAddress": "00:62:0B:4C:28:4E",
      "NvidiaNetworkAdapter_08C0EB59D368__Slot33_MACAddress": "08:C0:EB:59:D3:68",
      "Nonsense__Slot3_MACAddress": 7}})");
  put(kAdapters + "/2", R"({"Model": "ConnectX-7", "Controllers": [
      {"Location": {"PartLocation": {"ServiceLabel": "PCIe 3"}}}]})");
  add_collection(kChassis, "NetworkAdapters",
                 {kAdapters + "/1", kAdapters + "/2", kAdapters + "/slot-27"});
  put(kAdapters + "/slot-27", R"({"Model": "BCM5719"})");

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "hca0").macs, ElementsAre("08:c0:eb:53:c9:f0", "08:c0:eb:53:c9:f1"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre("00:62:0b:4c:28:4e"));
}

}  // namespace
}  // namespace cupel::bmc
