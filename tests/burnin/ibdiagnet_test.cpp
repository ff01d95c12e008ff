#include "burnin/fabric/discovery/ibdiagnet.h"

#include <gmock/gmock.h>

#include "burnin/fabric/link_health.h"

namespace cupel::burnin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// In the shape of ibdiagnet 2.13 to 2.19, with a few of its columns.
std::string file(int errors, const std::string& discards = "0") {
  return R"(START_NODES
NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,PartitionCap,revision,VendorID,LocalPortNum
"MF0;leaf1-r1:MQM9700/U1",65,2,1,1,0xb0cf0e0300000100,0xb0cf0e0300000100,0xb0cf0e0300000100,54002,8,160,713,0
"n01 mlx5_0",1,1,1,1,0xa088c20300000100,0xa088c20300000100,0xa088c20300000101,4129,128,0,713,1
END_NODES

START_PORTS
NodeGuid,PortGuid,PortNum,LinkWidthActv,LinkSpeedActv,FECActv
0xb0cf0e0300000100,0xb0cf0e0300000100,7,2,2048,14
0xa088c20300000100,0xa088c20300000101,1,2,2048,N/A
END_PORTS

START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0xb0cf0e0300000100,7,0xa088c20300000100,1
END_LINKS

START_PM_INFO
NodeGUID,PortGUID,PortNumber,LinkDownedCounter,PortRcvErrors,PortRcvErrorsExt,PortXmitDiscards,PortXmitDataExtended
0xb0cf0e0300000100,0xb0cf0e0300000100,7,0,255,)" +
         std::to_string(errors) + "," + discards + R"(,123456789
0xa088c20300000100,0xa088c20300000101,1,0,0,0,0xffff,N/A
END_PM_INFO

START_CABLE_INFO
NodeGuid,PortGuid,PortNum,Source,Vendor,OUI,PN,SN,Rev,FWVersion,Temperature
0xb0cf0e0300000100,0xb0cf0e0300000100,7,CA,"NVIDIA",0x48b02d,"MMA4Z00-NS","MT2301FT01","A0","40.242.17","71C"
0xa088c20300000100,0xa088c20300000101,1,CA,"N/A",N/A,"N/A","N/A","N/A","N/A","N/A"
END_CABLE_INFO

START_NODES_INFO
NodeGUID,FWInfo_Extended_Major,FWInfo_Extended_Minor,FWInfo_Extended_SubMinor
0xb0cf0e0300000100,0x1f,0x7de,0x42c
END_NODES_INFO
)";
}

TEST(Ibdiagnet, ReadsDevicesLinksCountersAndCables) {
  const auto found = parse_ibdiagnet(file(60000));

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(found->seen.doubts, IsEmpty());
  ASSERT_EQ(found->seen.links.size(), 1u);
  EXPECT_EQ(found->seen.links[0].width, 4);
  EXPECT_EQ(found->seen.links[0].speed, "NDR");
  EXPECT_EQ(found->seen.devices[1].name, "n01");
  EXPECT_EQ(found->seen.devices[1].type, 0x1021u);
  ASSERT_EQ(found->ports.size(), 2u);
  const CounterValues leaf{
      {"LinkDownedCounter", 0}, {"PortRcvErrors", 60000}, {"PortXmitDiscards", 0}};
  EXPECT_EQ(found->ports[0].counters, leaf) << "of 64 bits where they are there";
  EXPECT_EQ(found->ports[1].counters.at("PortXmitDiscards"), 65535u);
  ASSERT_EQ(found->cables.size(), 1u);
  EXPECT_EQ(found->cables.begin()->second.part, "MMA4Z00-NS");
  EXPECT_EQ(found->cables.begin()->second.celsius->value, 71);
  EXPECT_EQ(found->firmware.begin()->second, "31.2014.1068");
}

TEST(Ibdiagnet, IsALookWhoseGrowthIsJudged) {
  LinkLook before{.taken = std::chrono::sys_seconds{}},
      after{.taken = std::chrono::sys_seconds{} + std::chrono::hours{3}};
  const auto first = parse_ibdiagnet(file(10)), second = parse_ibdiagnet(file(130, "9"));
  for (const auto& [look, found] : {std::pair{&before, &*first}, std::pair{&after, &*second}}) {
    add_links(*look, found->seen);
    add_ibdiagnet(*look, *found);
  }

  const auto health = judge_links(&before, after);

  ASSERT_EQ(health.findings.size(), 1u);
  std::vector<std::string> faults;
  for (const auto& defect : health.findings[0].defects)
    faults.emplace_back(to_string(defect.fault));
  EXPECT_THAT(faults, ElementsAre("temperature", "errors"));
  EXPECT_THAT(health.listed, Contains(HasSubstr("PortXmitDiscards grew by 9 at leaf1-r1 port 7")));
}

TEST(Ibdiagnet, SaysWhereItIsCutOffAndInventsNothing) {
  const auto whole = file(0);
  const auto cut = parse_ibdiagnet(whole.substr(0, whole.find("END_PM_INFO") - 20));

  ASSERT_TRUE(cut) << cut.error().what;
  EXPECT_FALSE(cut->seen.whole);
  EXPECT_THAT(cut->seen.doubts, Contains(HasSubstr("cut off in its section PM_INFO")));
  for (std::size_t size = 0; size < whole.size(); size += 7)
    if (const auto found = parse_ibdiagnet(std::string_view{whole}.substr(0, size))) {
      EXPECT_LE(found->seen.links.size(), 1u);
      EXPECT_LE(found->seen.devices.size(), 2u);
    }
  for (const auto* nothing : {"", "\n", "START_LINKS\nNodeGuid1,PortNum1\n0x1,1\nEND_LINKS\n"}) {
    const auto found = parse_ibdiagnet(nothing);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  }
}

}  // namespace
}  // namespace cupel::burnin
