#include "rehearsal/rack_spec.h"

#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/power_node.h"
#include "inventory/shipped.h"
#include "rehearsal/rack_of_site.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr std::string_view kGood = R"(rack: v01
profile: dgx-h100
nodes: v01-n[01-04]
bmc: 127.64.1.[1-4]
ssh: 127.64.2.[1-4]
ports: {bmc: 0, ssh: 2222}
boot: {power_on: 2s, post: 1m}
faults:
  - {node: v01-n03, fault: gpu-missing, part: gpu5}
  - {nodes: "v01-n[01-02]", fault: gpu_slow_link, part: gpu0, width: 8}
  - {node: v01-n03, fault: wrong-firmware, component: HostBMC_0, version: 1.2.3}
)";

TEST(ParseRack, ZipsNodesWithAddressesAndPlantsFaults) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(kGood, "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->name, "v01");
  EXPECT_EQ(rack->boot, (BootTimes{.power_on = VirtualTime{2}, .post = VirtualTime{60}}));
  ASSERT_EQ(rack->nodes.size(), 4);
  EXPECT_EQ(rack->nodes[3].bmc_address, "127.64.1.4");
  EXPECT_EQ(rack->nodes[3].ssh_port, 2222);
  EXPECT_THAT(rack->nodes[3].faults, ::testing::IsEmpty());
  EXPECT_EQ(rack->nodes[0].faults,
            (std::vector<Fault>{{.kind = FaultKind::gpu_slow_link, .part = "gpu0", .width = 8}}));
  EXPECT_EQ(
      rack->nodes[2].faults,
      (std::vector<Fault>{
          {.kind = FaultKind::gpu_missing, .part = "gpu5"},
          {.kind = FaultKind::wrong_firmware, .component = "HostBMC_0", .version = "1.2.3"}}));
}

TEST(ParseRack, TakesPortsAndFaultsOfIpmi) {
  std::vector<inventory::Problem> problems;
  std::string text{kGood};
  text.replace(text.find("ssh: 2222"), 9, "ipmi: 623");
  text +=
      "  - {node: v01-n04, fault: ipmi-lossy, every: 7}\n  - {node: v01-n04, fault: ipmi-silent}\n";

  const auto rack = parse_rack(text, "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->nodes[0].ipmi_port, 623);
  EXPECT_EQ(rack->nodes[3].faults, (std::vector<Fault>{{.kind = FaultKind::ipmi_lossy, .every = 7},
                                                       {.kind = FaultKind::ipmi_silent}}));
}

TEST(ParseRack, SaysAllErrorsAtOnceWithTheirPlaceAndTheNearestWord) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(R"(profil: dgx-h100
rack: v 01
profile: dgx-h10
nodes: v01-n[01-03]
bmc: 127.64.1.[1-2]
ssh: 10.0.0.[1-3]
ports: {bmc: 70000}
boot: {post: soon, pots: 3s}
faults:
  - {node: v01-n01, fault: gpu-mising, part: gpu5}
  - {node: v01-n09, fault: boot-hangs}
  - {fault: boot-hangs}
  - {node: v01-n02, fault: gpu-missing, prt: gpu5}
  - {node: v01-n02, fault: memory-errors, errors: many}
)",
                               "rack.yaml", problems);

  EXPECT_FALSE(rack);
  const auto text = to_string(problems);
  for (const auto line : {
           "rack.yaml:1:1: unknown key 'profil' in rack (did you mean 'profile'?)",
           "rack.yaml:2:7: 'v 01' is no name for a host",
           "rack.yaml:3:10: there is no profile 'dgx-h10' (did you mean 'dgx-h100'?)",
           "rack.yaml:5:6: bmc has 2 addresses for 3 nodes: give one for each",
           "rack.yaml:6:6: ssh address '10.0.0.1' is none of this machine's own",
           "rack.yaml:7:14: bmc must be a whole number from 0 to 65535, not '70000'",
           "rack.yaml:8:14: post must be a duration such as 90s, 15m or 72h, not 'soon'",
           "rack.yaml:8:20: unknown key 'pots' in boot (did you mean 'post'?)",
           "rack.yaml:10:28: there is no fault 'gpu-mising' (did you mean 'gpu-missing'?)",
           "rack.yaml:11:12: there is no node 'v01-n09' (did you mean 'v01-n01'?)",
           "rack.yaml:12:5: fault needs node or nodes, one of them",
           "rack.yaml:13:5: fault gpu-missing needs part",
           "rack.yaml:13:41: unknown key 'prt' in fault (did you mean 'part'?)",
           "rack.yaml:14:51: errors must be a whole number from 1 to 1000000, not 'many'",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(ParseRack, GivesEachNodeOneFeedOrTwo) {
  std::vector<inventory::Problem> problems;

  const auto one = parse_rack(kGood, "rack.yaml", problems);
  const auto two = parse_rack("feeds: 2\n" + std::string{kGood}, "rack.yaml", problems);
  ASSERT_TRUE(one && two) << to_string(problems);
  const auto three = parse_rack("feeds: 3\n" + std::string{kGood}, "rack.yaml", problems);

  EXPECT_EQ(one->feeds, 1);
  EXPECT_EQ(two->feeds, 2);
  EXPECT_FALSE(three);
  EXPECT_THAT(to_string(problems),
              HasSubstr("rack.yaml:1:8: feeds must be a whole number from 1 to 2, not '3'"));
}

TEST(SiteOf, HasTwoPdusThatEachCarryAllWhereThereAreTwoFeeds) {
  std::vector<inventory::Problem> problems;
  auto rack = parse_rack(kGood, "rack.yaml", problems);
  ASSERT_TRUE(rack) << to_string(problems);
  const auto watts = [](const inventory::Inventory& site, std::string_view level) {
    const auto found = std::ranges::find(site.power, level, &inventory::PowerNode::name);
    return found == site.power.end() ? 0 : found->watts;
  };

  const auto one = site_of(*rack);
  rack->feeds = 2;
  const auto two = site_of(*rack);

  EXPECT_THAT(one.pdus, ::testing::IsEmpty());
  EXPECT_EQ(one.nodes[2].feeds, std::vector<std::string>{"v01/p1/b2"});
  EXPECT_EQ(one.nodes[2].outlets, std::vector<std::string>{""});
  ASSERT_EQ(two.pdus.size(), 2u);
  EXPECT_EQ(two.pdus[1].name, "v01/p2");
  EXPECT_EQ(two.nodes[2].feeds, (std::vector<std::string>{"v01/p1/b2", "v01/p2/b2"}));
  EXPECT_EQ(two.nodes[2].outlets, (std::vector<std::string>{"A3", "A3"}));
  for (const auto* level : {"v01/p1", "v01/p2"})
    EXPECT_EQ(watts(two, level), watts(one, "v01/p1")) << level;
  for (const auto* level : {"v01/p1/b1", "v01/p2/b1"})
    EXPECT_EQ(watts(two, level), watts(one, "v01/p1/b1")) << level;
  EXPECT_EQ(watts(two, "v01"), watts(one, "v01")) << "a machine draws no more for a second feed";
}

TEST(ParseRack, ChecksPartsAgainstTheProfile) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(R"(rack: v01
profile: dgx-h100
nodes: v01-n01
bmc: 127.64.1.1
ssh: 127.64.1.1
ports: {bmc: 4000, ssh: 4000}
faults:
  - {node: v01-n01, fault: gpu-missing, part: gpu9}
  - {node: v01-n01, fault: dimm-missing, part: dimm A77}
  - {node: v01-n01, fault: psu-missing, part: gpu1}
  - {node: v01-n01, fault: wrong-firmware, component: HostBMC_1, version: 1}
  - {node: v01-n01, fault: boot-hangs}
  - {node: v01-n01, fault: boot-hangs}
)",
                               "rack.yaml", problems);

  EXPECT_FALSE(rack);
  const auto text = to_string(problems);
  for (const auto line :
       {"rack.yaml:5:6: 127.64.1.1:4000 of node 'v01-n01' is already that of",
        "rack.yaml:8:47: profile dgx-h100 has no part 'gpu9' for fault gpu-missing",
        "has no part 'dimm A77' for fault dimm-missing (did you mean 'dimm A",
        "has no part 'gpu1' for fault psu-missing",
        "has no component 'HostBMC_1' for fault wrong-firmware (did you mean 'HostBMC_0'?)",
        "node 'v01-n01' has fault boot-hangs twice"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(ParseRack, ChecksPartsAgainstTheNodesOwnProfile) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(R"(rack: v[01-02]
profile: dgx-h100
profiles: [{nodes: v02-n1, profile: a100-8}]
nodes: v[01-02]-n1
bmc: 127.64.1.[1-2]
ssh: 127.64.2.[1-2]
speed: 100
faults:
  - {node: v01-n1, fault: hca-slow, part: mlx5_9, gbit: 100}
  - {nodes: "v[01-02]-n1", fault: hca-missing, part: mlx5_9}
)",
                               "rack.yaml", problems);

  EXPECT_FALSE(rack);
  const auto text = to_string(problems);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("rack.yaml:9:"))) << "a DGX H100 has it";
  EXPECT_THAT(text, HasSubstr("rack.yaml:10:54: profile a100-8 has no part 'mlx5_9'"));
}

TEST(ParseRack, RefusesMoreNodesThanOneLoopCarries) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(
      "rack: v\nprofile: dgx-h100\nnodes: v[0001-1001]\nbmc: 127.1.1.1\nssh: 127.1.1.2\n", "r.yaml",
      problems);

  EXPECT_FALSE(rack);
  EXPECT_THAT(to_string(problems), HasSubstr("nodes has 1001 names"));
}

TEST(ParseRack, GivesEachNodeTheBmcThatItSays) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(std::string{kGood} + R"(bmcs:
  vendor: dell
  factory_password: true
  but:
    - {nodes: "v01-n[02-03]", vendor: supermicro, licensed: false}
)",
                               "rack.yaml", problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->nodes[0].bmc,
            (BmcSpec{.vendor = "dell", .factory_password = true, .latency = true}));
  EXPECT_EQ(
      rack->nodes[2].bmc,
      (BmcSpec{
          .vendor = "supermicro", .licensed = false, .factory_password = true, .latency = true}));
}

TEST(ParseRack, RefusesABmcThatNobodyMakes) {
  std::vector<inventory::Problem> problems;

  const auto rack = parse_rack(std::string{kGood} + R"(bmcs:
  vendor: del
  licenced: true
  but: [{nodes: v01-n09, vendor: hpe}]
)",
                               "rack.yaml", problems);

  EXPECT_FALSE(rack);
  for (const auto* line : {"there is no BMC of vendor 'del' (did you mean 'dell'?)", "licenced",
                           "there is no node 'v01-n09'"})
    EXPECT_THAT(to_string(problems), HasSubstr(line));
}

TEST(ParseRack, ReadsTheShippedRack) {
  std::vector<inventory::Problem> problems;
  const auto* file = inventory::shipped_file("rehearsal/racks/h100-8.yaml");
  ASSERT_NE(file, nullptr);

  const auto rack = parse_rack(file->text, std::string{file->path}, problems);

  ASSERT_TRUE(rack) << to_string(problems);
  EXPECT_EQ(rack->nodes.size(), 8);
  EXPECT_EQ(rack->nodes[5].faults[0].part, "dimm A7");
}

}  // namespace
}  // namespace cupel::rehearsal
