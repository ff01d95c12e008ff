// Ways in which BMCs are hard to read, one test each: the comment names who does it.
#include "bmc/redfish/answer.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

using inventory::PartKind;
using inventory::Unknown;

const redfish::Rules& rules_of(const char* manufacturer) {
  const json::value system{{"Manufacturer", manufacturer}};
  return redfish::rules_for({.system = &system});
}

class Quirk : public ReadingTree {
 protected:
  void add_collection(const std::string& of, const std::string& name,
                      const std::vector<std::string>& members) {
    at(of)[name] = link_to(of + "/" + name);
    tree.documents[of + "/" + name] = list_of(members);
  }
  static std::ptrdiff_t count(const Observed& seen, PartKind kind) {
    return std::ranges::count(seen.parts, kind, &inventory::Part::kind);
  }
};

// Dell R770: members of BootOptions come in no order that means anything. Nothing reads them.
TEST_F(Quirk, BootOptionsAreNotTakenForTheBootOrder) {
  at(kSystem)["Boot"].as_object()["BootOptions"] = link_to("/redfish/v1/Systems/1/BootOptions");

  inventory();

  EXPECT_FALSE(tree.was_asked("/redfish/v1/Systems/1/BootOptions"));
}

// Supermicro without SFT-OOB-LIC or SFT-DCMS-SINGLE: 403 to what needs a licence.
TEST_F(Quirk, WhatNeedsALicenceIsUnknownForThatReasonAndTheRestIsRead) {
  add_collection(kSystem, "Memory", {"/redfish/v1/Systems/1/Memory/1"});
  put("/redfish/v1/Systems/1/Memory/1", R"({"DeviceLocator": "A1", "CapacityMiB": 65536})");
  at(kSystem)["Storage"] = link_to("/redfish/v1/Systems/1/Storage");
  const redfish::Response refusal{
      .status = 403,
      .body = R"({"error": {"@Message.ExtendedInfo": [{"MessageId": "SMC.1.0.OemLicenseNotPassed",
                  "Message": "Not licensed to perform this request. Node is not activated."}]}})"};
  const auto refused = redfish::understood("n: GET /redfish/v1/Systems/1/Storage", refusal);
  tree.errors.emplace("/redfish/v1/Systems/1/Storage", refused.error());

  const auto seen = inventory();

  EXPECT_EQ(count(seen, PartKind::dimm), 1);
  const auto why = std::ranges::find(seen.unknown, "storage", &Unknown::fact);
  ASSERT_NE(why, seen.unknown.end());
  EXPECT_TRUE(why->why.ends_with("the BMC needs a licence for this")) << why->why;
}

// DGX H100: a GET of the firmware inventory takes 2 to 3 minutes; its members do not.
TEST_F(Quirk, TheFirmwareInventoryOfADgxIsSlowAndItsMembersAreNot) {
  const auto& dgx = rules_of("NVIDIA");

  EXPECT_TRUE(redfish::is_slow(dgx, "/redfish/v1/UpdateService/FirmwareInventory"));
  EXPECT_TRUE(redfish::is_slow(dgx, "/redfish/v1/UpdateService/FirmwareInventory/"));
  EXPECT_FALSE(redfish::is_slow(dgx, "/redfish/v1/UpdateService/FirmwareInventory/HostBMC_0"));
  EXPECT_FALSE(redfish::is_slow(dgx, "/redfish/v1/UpdateService"));
  EXPECT_FALSE(
      redfish::is_slow(rules_of("Dell Inc."), "/redfish/v1/UpdateService/FirmwareInventory"));
}

TEST_F(Quirk, TheFirmwareInventoryIsAskedForLast) {
  at(kRoot)["UpdateService"] = link_to("/redfish/v1/UpdateService");
  put("/redfish/v1/UpdateService",
      R"({"FirmwareInventory": {"@odata.id": "/redfish/v1/UpdateService/FirmwareInventory"}})");
  tree.documents["/redfish/v1/UpdateService/FirmwareInventory"] = list_of({});

  inventory();

  EXPECT_EQ(tree.asked.back(), "/redfish/v1/UpdateService/FirmwareInventory");
}

TEST_F(Quirk, VersionsAloneAreReadWithoutTheOtherParts) {
  const std::string inventory = "/redfish/v1/UpdateService/FirmwareInventory";
  put("/redfish/v1/UpdateService",
      R"({"FirmwareInventory": {"@odata.id": "/redfish/v1/UpdateService/FirmwareInventory"}})");
  tree.documents[inventory] = list_of({inventory + "/NIC", inventory + "/Previous-NIC"});
  put(inventory + "/NIC", R"({"Id": "NIC", "Version": "28.39 "})");

  const auto parts = run_to_end(io, redfish::read_versions(tree, soon()));

  ASSERT_TRUE(parts);
  std::vector<std::string> versions;
  for (const auto& one : *parts) versions.push_back(one.name + " " + one.firmware);
  EXPECT_THAT(versions, ElementsAre("bios P79", "bmc 1.2.3", "NIC 28.39"));
  EXPECT_FALSE(tree.was_asked("/redfish/v1/Chassis"));
  EXPECT_FALSE(tree.was_asked(inventory + "/Previous-NIC"));
}

// Dell, GIGABYTE: what the System always tells is missing until the BMC is restarted.
TEST_F(Quirk, ASystemThatForgotWhatItIsGetsOneNoteThatSaysWhatMayHelp) {
  at(kSystem)["Manufacturer"] = "Dell Inc.";
  for (const auto* fact : {"Model", "BiosVersion"}) at(kSystem)[fact] = nullptr;
  for (const auto* name : {"Processors", "Memory"}) add_collection(kSystem, name, {});

  const auto seen = inventory();

  const Unknown note{"incomplete data", kSystem,
                     "no Model, BiosVersion; a restart of the BMC may bring it back"};
  EXPECT_EQ(std::ranges::count(seen.unknown, note), 1);
  EXPECT_EQ(std::ranges::count(seen.unknown, "incomplete data", &Unknown::fact), 1);
}

TEST_F(Quirk, WhatABmcNeverTellsIsNotTakenForForgotten) {
  at(kSystem)["Manufacturer"] = "NVIDIA";
  at(kSystem)["Model"] = nullptr;
  EXPECT_FALSE(is_unknown(inventory().unknown, "incomplete data"));
}

// AMI: says that it can expand, and leaves out what is required.
TEST_F(Quirk, AmisPromiseToExpandIsNotTakenUp) {
  at(kSystem)["Manufacturer"] = "AMI";
  put(kRoot, R"({"Vendor": "AMI", "ProtocolFeaturesSupported":
                 {"ExpandQuery": {"NoLinks": true, "ExpandAll": true, "Levels": true}}})");

  inventory();

  for (const auto& uri : tree.asked) EXPECT_EQ(uri.find("$expand"), uri.npos) << uri;
}

// GB200: "Members": null.
TEST_F(Quirk, MembersThatAreNullAreNone) {
  at(kSystem)["Processors"] = link_to("/redfish/v1/Systems/1/Processors");
  put("/redfish/v1/Systems/1/Processors", R"({"Members": null, "Members@odata.count": 0})");

  const auto seen = inventory();

  EXPECT_EQ(count(seen, PartKind::cpu), 0);
  EXPECT_TRUE(is_unknown(seen.unknown, "processor"));
}

// HPE iLO 5: the lists of PCIe devices are empty while the machine powers on.
TEST_F(Quirk, WhatIsListedWhileTheMachinePowersOnMayNotBeAll) {
  const auto is_doubted = [&] { return is_unknown(inventory().unknown, "what is not listed"); };
  at(kSystem)["PowerState"] = "PoweringOn";
  EXPECT_TRUE(is_doubted());

  at(kSystem)["PowerState"] = "On";
  at(kSystem)["BootProgress"] = json::object{{"LastState", "PCIResourceConfigStarted"}};
  EXPECT_TRUE(is_doubted());

  at(kSystem)["BootProgress"] = json::object{{"LastState", "OSRunning"}};
  EXPECT_FALSE(is_doubted());
}

/// What stands below a System is there once everything above it was read.
class AfterItsParent final : public redfish::Fetch {
 public:
  explicit AfterItsParent(TreeFetch& tree) : tree_{tree} {}
  Task<Result<json::value>> get(std::string uri, Deadline deadline) override {
    const auto parent = uri.substr(0, uri.rfind('/'));
    const bool below = uri.starts_with("/redfish/v1/Systems/");
    if (below && !tree_.was_asked(parent)) early.push_back(uri);
    if (!early.empty() && early.back() == uri)
      co_return Error{Code::kNotFound, "a01-n01: GET " + uri + ": HTTP 404"};
    co_return co_await tree_.get(uri, deadline);
  }
  std::vector<std::string> early{};

 private:
  TreeFetch& tree_;
};

// Lenovo and others: a resource is 404 until its parent was read.
TEST_F(Quirk, WhatIsThereOnlyOnceItsParentWasReadIsRead) {
  const std::string dimms = std::string{kSystem} + "/Memory";
  add_collection(kSystem, "Memory", {dimms + "/1"});
  put(dimms + "/1", R"({"DeviceLocator": "A1", "CapacityMiB": 65536})");
  AfterItsParent fetch{tree};

  const auto seen = run_to_end(io, redfish::read_inventory(fetch, soon()));

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(count(*seen, PartKind::dimm), 1);
  EXPECT_THAT(fetch.early, ::testing::IsEmpty());
}

// Any: a link that is gone from one of several chassis that are alike.
TEST_F(Quirk, ALinkThatAllSistersHaveIsMissed) {
  std::vector<std::string> all{kChassis};
  for (int i = 1; i <= 4; ++i) {
    const auto uri = "/redfish/v1/Chassis/GPU_SXM_" + std::to_string(i);
    all.push_back(uri);
    tree.documents[uri] = json::object{{"ChassisType", "Module"}};
    add_collection(uri, "PCIeDevices", {});
  }
  tree.documents["/redfish/v1/Chassis"] = list_of(all);
  EXPECT_FALSE(is_unknown(inventory().unknown, "PCIeDevices"));

  at("/redfish/v1/Chassis/GPU_SXM_3").erase("PCIeDevices");

  const Unknown note{"PCIeDevices", "/redfish/v1/Chassis/GPU_SXM_3",
                     "not linked to, as it is by all chassis like it"};
  EXPECT_EQ(std::ranges::count(inventory().unknown, note), 1);
}

// Any: every machine has fans and a network adapter.
TEST_F(Quirk, WhatEveryMachineHasIsMissedWhereNoChassisLinksToIt) {
  const auto bare = inventory().unknown;
  EXPECT_TRUE(is_unknown(bare, "fans"));

  at(kChassis)["Thermal"] = link_to("/redfish/v1/Chassis/1/Thermal");
  put("/redfish/v1/Chassis/1/Thermal", R"({"Fans": [{"Name": "FAN1"}]})");

  EXPECT_FALSE(is_unknown(inventory().unknown, "fans"));
}

// Cards and drives of several kinds in one list, as in a DGX H100.
TEST_F(Quirk, CountsEachKindOfPartApartAndKeepsNamesWhereOneIsLost) {
  const std::string cards = std::string{kChassis} + "/NetworkAdapters";
  const std::vector<std::string> slots{cards + "/1", cards + "/2", cards + "/3", cards + "/4"};
  add_collection(kChassis, "NetworkAdapters", slots);
  put(slots[0], R"({"Model": "X710"})");
  put(slots[1], R"({"Model": "ConnectX-7"})");
  put(slots[2], R"({"Model": "ConnectX-7"})");
  put(slots[3], R"({"Model": "ConnectX-7"})");
  EXPECT_EQ(part(inventory(), "nic0").source, slots[0]);
  EXPECT_EQ(part(inventory(), "hca0").source, slots[1]);
  EXPECT_EQ(part(inventory(), "hca2").source, slots[3]);

  tree.documents.erase(slots[2]);
  const auto seen = inventory();

  EXPECT_EQ(part(seen, "hca2").source, slots[3]);
  EXPECT_EQ(part(seen, "hca1").source, "");
  EXPECT_TRUE(is_unknown(seen.unknown, "numbers of the adapters after 3"));
}

// Many: a UUID that is an empty text.
TEST_F(Quirk, AnEmptyUuidIsUnknown) {
  at(kSystem)["UUID"] = "";

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.uuid, "");
  EXPECT_TRUE(is_unknown(seen.unknown, "UUID of the system"));
}

// Several: a chassis without ChassisType and Name, though both are required.
TEST_F(Quirk, AChassisWithoutTypeAndNameStillHasItsFans) {
  put(kChassis, R"({"Thermal": {"@odata.id": "/redfish/v1/Chassis/1/Thermal"}})");
  put("/redfish/v1/Chassis/1/Thermal", R"({"Fans": [{"FanName": "FAN1"}],
      "Temperatures": [{"ReadingCelsius": 21}]})");

  EXPECT_EQ(part(inventory(), "fan0").slot, "FAN1");
  EXPECT_EQ(sensors().sensors.size(), 2u);
}

// Many: no clock, and a date nevertheless.
TEST_F(Quirk, IgnoresDatesOfAnUnsetClock) {
  for (const auto* none : {"0000-00-00T00:00:00+00:00", "1970-01-01T00:01:00Z",
                           "2001-01-01T00:00:00Z", "9999-12-31T23:59:59+00:00", "TIME_NA", ""})
    EXPECT_EQ(redfish::moment_of(none), std::nullopt) << none;
}

// Dell: times without a zone.
TEST_F(Quirk, TimesWithoutAZoneAreUtc) {
  EXPECT_EQ(redfish::moment_of("2023-08-24T10:31:32"), redfish::moment_of("2023-08-24T10:31:32Z"));
}

// Several: a port that is disabled has a MAC of some other text.
TEST_F(Quirk, JunkInPlaceOfAMacIsNoted) {
  const std::string adapter = "/redfish/v1/Chassis/1/NetworkAdapters/1";
  add_collection(kChassis, "NetworkAdapters", {adapter});
  put(adapter, R"({"Model": "X710"})");
  add_collection(adapter, "NetworkDeviceFunctions", {adapter + "/F1", adapter + "/F2"});
  put(adapter + "/F1", R"({"Ethernet": {"MACAddress": "Not Available"}})");
  put(adapter + "/F2", R"({"Ethernet": {"MACAddress": "6C-FE-54-41-15-78"}})");

  EXPECT_THAT(part(inventory(), "nic0").macs, ElementsAre("6c:fe:54:41:15:78"));

  put(adapter + "/F2", R"({"Ethernet": {"MACAddress": "00:00:00:00:00:00"}})");
  EXPECT_TRUE(is_unknown(inventory().unknown, "MACs of nic0"));
}

// DGX before its BMC is restarted: links are missing from the service root.
TEST_F(Quirk, ARootWithoutLinksIsReadWhereTheStandardPutsThings) {
  put(kRoot, "{}");
  at(kSystem).erase("Links");

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "437XR1138R2");
  EXPECT_EQ(seen.identity.bmc_version, "1.2.3");
  EXPECT_TRUE(tree.was_asked(kChassis));
}

// BlueField-3: a GET of the root of trust's chassis never comes back.
TEST_F(Quirk, ChassisOfRootsOfTrustAreNotAsked) {
  const std::string root_of_trust = "/redfish/v1/Chassis/Bluefield_ERoT";
  at(kSystem)["Manufacturer"] = "Nvidia";
  tree.documents["/redfish/v1/Chassis"] = list_of({root_of_trust, kChassis});

  inventory();
  sensors();
  log();

  EXPECT_FALSE(tree.was_asked(root_of_trust));
  EXPECT_TRUE(tree.was_asked(kChassis));
}

// Dell: what people call the serial number, the service tag, is in SKU.
TEST_F(Quirk, ADellsSerialIsItsServiceTag) {
  at(kSystem)["Manufacturer"] = "Dell Inc.";
  at(kSystem)["SKU"] = "F54P1G3";
  EXPECT_EQ(inventory().identity.serial, "F54P1G3");
}

TEST_F(Quirk, ADellWhoseSystemIsLostIsStillKnownByItsServiceTag) {
  put(kRoot, R"({"Vendor": "Dell"})");
  tree.errors.emplace(kSystem, Error{Code::kFailed, "n: GET /redfish/v1/Systems/1: HTTP 500"});
  put(kChassis, R"({"ChassisType": "RackMount", "SKU": "F54P1G3", "SerialNumber": "CNIVC00"})");

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "F54P1G3");
  EXPECT_EQ(seen.power, PowerState::unknown);
  EXPECT_TRUE(is_unknown(seen.unknown, "system 1"));
}

// HGX: where the host's System is lost, its baseboard must not pass for the machine.
TEST_F(Quirk, ABaseboardIsNotTheMachineWhoseSystemIsLost) {
  const std::string board = "/redfish/v1/Systems/HGX_Baseboard_0";
  tree.documents[kSystems] = list_of({kSystem, board});
  put(board, R"({"PowerState": "On", "SerialNumber": "1655223000000", "Manufacturer": "NVIDIA"})");
  tree.errors.emplace(kSystem, Error{Code::kNotFound, "n: GET /redfish/v1/Systems/1: HTTP 404"});

  const auto seen = inventory();

  EXPECT_EQ(seen.identity.serial, "");
  EXPECT_EQ(seen.power, PowerState::unknown);
  EXPECT_EQ(part(seen, "system").source, kSystem);
}

TEST_F(Quirk, ASystemThatIsRefusedOrSilentIsAnError) {
  for (const auto code : {Code::kRefused, Code::kTimeout, Code::kUnreachable, Code::kBusy}) {
    tree.errors.clear();
    tree.errors.emplace(kSystem, Error{code, "n: GET /redfish/v1/Systems/1"});

    const auto seen = read();

    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, code);
  }
}

// GB200, HGX, QLogic, Broadcom: names in front of the number; blanks behind it.
TEST_F(Quirk, VersionsAreHeldAgainstEachOtherWithoutWhatStandsInFront) {
  EXPECT_EQ(redfish::canonical_version("GB200Nvl-24.10-1"), "24.10-1");
  EXPECT_EQ(redfish::canonical_version("xx-1.2"), "1.2");
  EXPECT_EQ(redfish::canonical_version("28.39.1002   "), "28.39.1002");
  EXPECT_EQ(redfish::canonical_version("version not available"), "");
}

// DGX, Dell: every page of a collection names the first one as itself.
TEST_F(Quirk, PagesThatAllCarryTheNameOfTheFirstAreFollowedToTheEnd) {
  const std::string memory = "/redfish/v1/Systems/1/Memory";
  at(kSystem)["Memory"] = link_to(memory);
  put(memory, R"({"@odata.id": "/redfish/v1/Systems/1/Memory", "Members@odata.count": 2,
      "Members": [{"@odata.id": "/redfish/v1/Systems/1/Memory/A1"}],
      "Members@odata.nextLink": "/redfish/v1/Systems/1/Memory?$skip=1"})");
  put(memory + "?$skip=1", R"({"@odata.id": "/redfish/v1/Systems/1/Memory",
      "Members@odata.count": 2, "Members": [{"@odata.id": "/redfish/v1/Systems/1/Memory/A2"}]})");
  for (const auto* name : {"A1", "A2"})
    put(memory + "/" + name, R"({"CapacityMiB": 65536, "SerialNumber": "80CE"})");
  tree.documents[memory + "/A2"].as_object()["SerialNumber"] = "80CF";

  EXPECT_EQ(count(inventory(), PartKind::dimm), 2);
}

// HPE: links that are "/", double slashes, slashes at the end.
TEST_F(Quirk, LinksWithTooManySlashesNameTheSameThing) {
  at(kSystem)["Processors"] = link_to("/redfish/v1/Systems/1/Processors/");
  tree.documents["/redfish/v1/Systems/1/Processors/"] =
      list_of({"/redfish/v1/Systems/1/Processors/1/", "/redfish/v1/Systems/1//Processors/1", "/"});
  put("/redfish/v1/Systems/1/Processors/1/", R"({"ProcessorType": "CPU", "Model": "EPYC"})");

  EXPECT_EQ(count(inventory(), PartKind::cpu), 1);
  EXPECT_FALSE(tree.was_asked("/"));
  EXPECT_EQ(redfish::normal("/redfish/v1//Systems/1/#/Boot"), "/redfish/v1/Systems/1");
}

// Supermicro, HPE: a member is listed and is not there.
TEST_F(Quirk, AMemberThatIsListedAndNotThereCostsItselfAlone) {
  add_collection(kSystem, "Processors",
                 {"/redfish/v1/Systems/1/Processors/1", "/redfish/v1/Systems/1/Processors/2"});
  put("/redfish/v1/Systems/1/Processors/2", R"({"ProcessorType": "CPU", "Model": "EPYC"})");

  const auto seen = inventory();

  EXPECT_EQ(count(seen, PartKind::cpu), 1);
  EXPECT_TRUE(is_unknown(seen.unknown, "processor 1"));
}

// GB200, GH200: the System knows neither maker nor model nor serial number; its chassis does.
TEST_F(Quirk, ASystemWithoutASerialNumberHasItsChassiss) {
  at(kSystem)["SerialNumber"] = nullptr;
  put(kChassis, R"({"ChassisType": "RackMount", "SerialNumber": "1333024020524"})");
  EXPECT_EQ(inventory().identity.serial, "1333024020524");
}

// Many: something else for a serial number, until the machine has been programmed or has started.
TEST_F(Quirk, WhatStandsForASerialNumberIsNone) {
  for (const auto* text : {"00000000000000", "NA", "Default string", "0123456789",
                           "To be filled by O.E.M.", "System Serial Number"}) {
    at(kSystem)["SerialNumber"] = text;
    EXPECT_EQ(inventory().identity.serial, "") << text;
  }
}

// Lenovo: metric reports of 5.8 MB. Nothing reads them.
TEST_F(Quirk, TelemetryIsNotAsked) {
  at(kRoot)["TelemetryService"] = link_to("/redfish/v1/TelemetryService");

  inventory();
  sensors();

  EXPECT_FALSE(tree.was_asked("/redfish/v1/TelemetryService"));
}

// HPE: several temperatures of one name in one array.
TEST_F(Quirk, RowsOfOneNameAreSeveralSensors) {
  at(kChassis)["Thermal"] = link_to("/redfish/v1/Chassis/1/Thermal");
  put("/redfish/v1/Chassis/1/Thermal",
      R"({"Fans": [], "Temperatures": [{"Name": "38-PCI 5", "ReadingCelsius": 88},
          {"Name": "38-PCI 5", "ReadingCelsius": 65}]})");
  EXPECT_EQ(sensors().sensors.size(), 2u);
}

// Lenovo: EnvironmentMetrics repeat one of Thermal's temperatures under no name.
TEST_F(Quirk, TheTemperatureOfAChassisIsNoneOfItsOwn) {
  at(kChassis)["Thermal"] = link_to("/redfish/v1/Chassis/1/Thermal");
  at(kChassis)["EnvironmentMetrics"] = link_to("/redfish/v1/Chassis/1/EnvironmentMetrics");
  put("/redfish/v1/Chassis/1/Thermal",
      R"({"Fans": [], "Temperatures": [{"Name": "Ambient Temp", "ReadingCelsius": 19}]})");
  put("/redfish/v1/Chassis/1/EnvironmentMetrics",
      R"({"TemperatureCelsius": {"Reading": 19}, "PowerWatts": {"Reading": 700}})");

  const auto seen = sensors();

  EXPECT_EQ(std::ranges::count(seen.sensors, SensorKind::temperature, &Sensor::kind), 1);
  EXPECT_EQ(seen.watts, 700);
}

}  // namespace
}  // namespace cupel::bmc
