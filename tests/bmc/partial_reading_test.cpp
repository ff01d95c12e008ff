// Which lists of parts a reading has whole: a part that is not listed is missing only there.
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

using inventory::PartKind;
using ::testing::IsEmpty;

/// A machine with two or more of every kind, each in a collection or a list of its own.
class PartialReading : public ReadingTree {
 protected:
  static constexpr const char* kPower = "/redfish/v1/Chassis/1/PowerSubsystem";
  static constexpr const char* kCooling = "/redfish/v1/Chassis/1/ThermalSubsystem";

  PartialReading() {
    put("/redfish/v1/UpdateService",
        R"({"FirmwareInventory": {"@odata.id": "/redfish/v1/UpdateService/FirmwareInventory"}})");
    tree.documents["/redfish/v1/UpdateService/FirmwareInventory"] = list_of({});
    members(kSystem, "Processors",
            {R"({"ProcessorType": "CPU", "Model": "Xeon", "TotalCores": 56})",
             R"({"ProcessorType": "CPU", "Model": "Xeon", "TotalCores": 56})",
             R"({"ProcessorType": "GPU", "Model": "H100"})",
             R"({"ProcessorType": "GPU", "Model": "H100"})"});
    members(kSystem, "Memory",
            {R"({"DeviceLocator": "A1", "CapacityMiB": 65536, "SerialNumber": "D1"})",
             R"({"DeviceLocator": "A2", "CapacityMiB": 65536, "SerialNumber": "D2"})"});
    at(kSystem)["Storage"] = link_to(std::string{kSystem} + "/Storage");
    const auto storage = std::string{kSystem} + "/Storage/1";
    tree.documents[std::string{kSystem} + "/Storage"] = list_of({storage});
    put(storage, R"({"Id": "1"})");
    members(storage, "Drives",
            {R"({"Protocol": "NVMe", "Model": "PM9A3", "SerialNumber": "N1"})",
             R"({"Protocol": "NVMe", "Model": "PM9A3", "SerialNumber": "N2"})"});
    at(kChassis)["PowerSubsystem"] = link_to(kPower);
    at(kChassis)["ThermalSubsystem"] = link_to(kCooling);
    put(kPower, "{}");
    put(kCooling, "{}");
    members(
        kPower, "PowerSupplies",
        {R"({"Model": "ECD", "SerialNumber": "P1"})", R"({"Model": "ECD", "SerialNumber": "P2"})"});
    members(kCooling, "Fans", {R"({"Name": "Fan 1"})", R"({"Name": "Fan 2"})"});
    members(kChassis, "NetworkAdapters",
            {R"({"Model": "ConnectX-7", "SerialNumber": "H1"})",
             R"({"Model": "ConnectX-7", "SerialNumber": "H2"})"});
  }

  /// ".../Memory/1", ".../Memory/2".
  void members(const std::string& of, const std::string& name,
               const std::vector<std::string>& bodies) {
    const auto collection = of + "/" + name;
    at(of)[name] = link_to(collection);
    std::vector<std::string> uris;
    for (const auto& body : bodies) {
      uris.push_back(collection + "/" + std::to_string(uris.size() + 1));
      put(uris.back(), body);
    }
    tree.documents[collection] = list_of(uris);
  }

  static std::set<PartKind> partial(const Observed& seen) {
    std::set<PartKind> kinds;
    for (const auto& each : seen.partial) kinds.insert(each.kind);
    return kinds;
  }
};

TEST_F(PartialReading, IsWholeWhereEveryMemberAnswers) {
  const auto seen = inventory();

  EXPECT_THAT(seen.partial, IsEmpty());
  EXPECT_EQ(std::ranges::count(seen.parts, PartKind::gpu, &inventory::Part::kind), 2);
}

struct Lost {
  const char* uri;
  std::set<PartKind> kinds;
};

const std::set kProcessors{PartKind::cpu, PartKind::gpu};
const std::set kCards{PartKind::nic, PartKind::hca, PartKind::dpu};
const std::set kDrives{PartKind::nvme, PartKind::drive};
const std::set kInChassis{PartKind::psu, PartKind::fan, PartKind::nic,
                          PartKind::hca, PartKind::dpu, PartKind::switch_chip};

/// What is lost, and how.
class PartialReadingOf : public PartialReading,
                         public ::testing::WithParamInterface<std::tuple<Lost, Code>> {};

TEST_P(PartialReadingOf, IsNotWholeForTheKindsThatItLists) {
  const auto& [lost, code] = GetParam();
  tree.errors.emplace(lost.uri,
                      Error{code, "a01-n01: GET " + std::string{lost.uri} + ": HTTP 5xx"});

  const auto seen = inventory();

  EXPECT_EQ(partial(seen), lost.kinds);
  for (const auto& each : seen.partial) {
    EXPECT_EQ(each.source, lost.uri);
    EXPECT_EQ(each.passing, code != Code::kNotFound);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryCollection, PartialReadingOf,
    ::testing::Combine(
        ::testing::Values(
            Lost{"/redfish/v1/Systems/1/Memory", {PartKind::dimm}},
            Lost{"/redfish/v1/Systems/1/Memory/2", {PartKind::dimm}},
            Lost{"/redfish/v1/Systems/1/Processors", kProcessors},
            Lost{"/redfish/v1/Systems/1/Processors/2", kProcessors},
            Lost{"/redfish/v1/Systems/1/Processors/4", kProcessors},
            Lost{"/redfish/v1/Systems/1/Storage", kDrives},
            Lost{"/redfish/v1/Systems/1/Storage/1", kDrives},
            Lost{"/redfish/v1/Systems/1/Storage/1/Drives", kDrives},
            Lost{"/redfish/v1/Systems/1/Storage/1/Drives/2", kDrives},
            Lost{"/redfish/v1/Chassis/1/PowerSubsystem", {PartKind::psu}},
            Lost{"/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies", {PartKind::psu}},
            Lost{"/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/1", {PartKind::psu}},
            Lost{"/redfish/v1/Chassis/1/ThermalSubsystem/Fans/1", {PartKind::fan}},
            Lost{"/redfish/v1/Chassis/1/NetworkAdapters", kCards},
            Lost{"/redfish/v1/Chassis/1/NetworkAdapters/2", kCards},
            Lost{"/redfish/v1/Chassis/1", kInChassis}, Lost{"/redfish/v1/Chassis", kInChassis}),
        ::testing::Values(Code::kFailed, Code::kBusy, Code::kNotFound, Code::kMalformed)));

TEST_F(PartialReading, IsNotWholeWhereACollectionCountsMoreThanItLists) {
  at("/redfish/v1/Systems/1/Memory")["Members@odata.count"] = 4;

  const auto seen = inventory();

  EXPECT_EQ(partial(seen), std::set{PartKind::dimm});
  EXPECT_EQ(seen.partial.at(0).why, "fewer members than it counts");
}

TEST_F(PartialReading, IsWholeWhereTheMembersOfAllPagesAreAsManyAsItCounts) {
  auto& first = at("/redfish/v1/Systems/1/Memory");
  first["Members@odata.count"] = 2;
  first["Members@odata.nextLink"] = "/redfish/v1/Systems/1/Memory?page=2";
  first["Members"].as_array().pop_back();
  tree.documents["/redfish/v1/Systems/1/Memory?page=2"] =
      list_of({"/redfish/v1/Systems/1/Memory/2"});

  EXPECT_THAT(inventory().partial, IsEmpty());

  tree.errors.emplace("/redfish/v1/Systems/1/Memory?page=2",
                      Error{Code::kBusy, "a01-n01: GET: HTTP 503"});
  EXPECT_EQ(partial(inventory()), std::set{PartKind::dimm});
}

TEST_F(PartialReading, IsNotWholeBehindPagesThatAreNotReadToTheirEnd) {
  const std::string collection = "/redfish/v1/Systems/1/Memory";
  at(collection)["Members@odata.nextLink"] = collection;
  EXPECT_EQ(partial(inventory()), std::set{PartKind::dimm}) << "in circles";

  at(collection)["Members@odata.nextLink"] = collection + "?page=1";
  for (int page = 1; page < 450; ++page) {
    const auto uri = collection + "?page=" + std::to_string(page);
    const auto member = collection + "/of-page-" + std::to_string(page);
    tree.documents[uri] = list_of({member});
    at(uri)["Members@odata.nextLink"] = collection + "?page=" + std::to_string(page + 1);
    put(member, R"({"CapacityMiB": 1, "SerialNumber": "D"})");
  }
  const auto seen = inventory();
  EXPECT_EQ(partial(seen), std::set{PartKind::dimm});
  EXPECT_THAT(seen.partial.at(0).why, HasSubstr("more than 400 pages"));
}

TEST_F(PartialReading, IsNotWholeWhereTheSystemLinksToNoMemory) {
  at(kSystem).erase("Memory");

  EXPECT_EQ(partial(inventory()), std::set{PartKind::dimm});
}

TEST_F(PartialReading, IsNotWholeWhereAMemberInUseSaysNothingOfItself) {
  put("/redfish/v1/Systems/1/Memory/2", R"({"Status": {"State": "Enabled"}, "CapacityMiB": null})");
  EXPECT_EQ(partial(inventory()), std::set{PartKind::dimm});

  put("/redfish/v1/Systems/1/Memory/2", R"({"Status": {"State": "Absent"}, "CapacityMiB": null})");
  EXPECT_THAT(inventory().partial, IsEmpty()) << "an empty slot is one that was read";
}

// The service goes away in the middle, and comes back before the end.
TEST_F(PartialReading, IsWholeInNothingWhereTheBmcWasAwayMeanwhile) {
  for (const auto* uri :
       {"Memory/1", "Memory/2", "Processors/1", "Processors/2", "Processors/3", "Processors/4"})
    tree.errors.emplace(std::string{kSystem} + "/" + uri,
                        Error{Code::kUnreachable, "connection refused"});

  EXPECT_EQ(partial(inventory()).size(), inventory::kCountedKinds.size());
}

// Lists of PCIe devices vanish meanwhile (iLO 5).
TEST_F(PartialReading, IsWholeInNothingWhileTheMachineStarts) {
  at(kSystem)["PowerState"] = "PoweringOn";

  EXPECT_EQ(partial(inventory()).size(), inventory::kCountedKinds.size());
}

TEST_F(PartialReading, MarksNothingElseForOneResourceThatIsNeverAnswered) {
  tree.errors.emplace("/redfish/v1/Systems/1/Memory/2",
                      Error{Code::kUnreachable, "connection refused"});

  EXPECT_EQ(partial(inventory()), std::set{PartKind::dimm});
}

TEST_F(PartialReading, IsWholeWhereADetailOfAGpuIsLost) {
  put("/redfish/v1/Systems/1/Processors/3",
      R"({"ProcessorType": "GPU", "Links": {"PCIeDevice": {"@odata.id": "/redfish/v1/Lost"}}})");

  EXPECT_THAT(inventory().partial, IsEmpty());
}

}  // namespace
}  // namespace cupel::bmc
