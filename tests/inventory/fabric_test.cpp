#include "inventory/fabric.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/fabric_rule.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The compute HCAs of a DGX A100 (mlx5_4 and mlx5_5 are of the storage network).
const std::vector<std::string> kHcas{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                     "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"};

std::vector<FabricMember> members(int count) {
  std::vector<FabricMember> made;
  for (int i = 1; i <= count; ++i) made.push_back({fmt::format("n{:02}", i), kHcas});
  return made;
}

TEST(FabricRule, GivesEachHcaOfTheListTheLeafOfItsRailAndTheNodesPort) {
  std::vector<Problem> problems;
  const auto fabric =
      make_fabric({.group = 20, .spines = 10, .switch_ports = 40}, members(40), problems);
  const FabricMap map{fabric};

  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(map.rail_port("n25", 4), (RailPort{"mlx5_6", "leaf2-r5", 5}));
  EXPECT_EQ(map.rail_of("n25", "mlx5_6"), 4);
  EXPECT_EQ(map.rail_of("n25", "mlx5_4"), -1);
  EXPECT_EQ(map.rail_port("n25", 8), std::nullopt);
}

TEST(FabricRule, GivesEachLeafItsUplinksInParallel) {
  std::vector<Problem> problems;
  const auto fabric =
      make_fabric({.group = 4, .spines = 2, .switch_ports = 64}, members(8), problems);
  const FabricMap map{fabric};

  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(
      map.uplinks("leaf2-r1"),
      ElementsAre(Uplink{"leaf2-r1", 5, "spine1", 17}, Uplink{"leaf2-r1", 6, "spine1", 18},
                  Uplink{"leaf2-r1", 7, "spine2", 17}, Uplink{"leaf2-r1", 8, "spine2", 18}));
  EXPECT_THAT(map.spines("leaf2-r1"), ElementsAre("spine1", "spine2"));
  EXPECT_EQ(map.cable_at({"spine2", "", 18})->from, (CableEnd{"leaf2-r1", "", 8}));
}

TEST(FabricRule, ConnectsPortPOfAnHcaToPlaneP) {
  std::vector<Problem> problems;
  const auto fabric = make_fabric({.group = 4, .planes = 2}, members(2), problems);
  const FabricMap map{fabric};

  EXPECT_EQ(map.rail_port("n02", 1, 0), (RailPort{"mlx5_1", "p1-leaf1-r2", 2}));
  EXPECT_EQ(map.rail_port("n02", 1, 1), (RailPort{"mlx5_1", "p2-leaf1-r2", 2}));
  EXPECT_EQ(map.cable_at({"n02", "mlx5_1", 2})->to.device, "p2-leaf1-r2");
}

TEST(FabricRule, PutsAllHcasOfANodeIntoOneLeafOfAFatTree) {
  std::vector<Problem> problems;
  const auto fabric = make_fabric({.layout = FabricLayout::fat_tree, .group = 4, .spines = 4},
                                  members(4), problems);
  const FabricMap map{fabric};

  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(map.rail_port("n02", 3), (RailPort{"mlx5_3", "leaf1", 12}));
  EXPECT_EQ(map.uplinks("leaf1").size(), 32u);
}

TEST(FabricRule, ReportsALeafWithTooFewPortsAndGroupsWithoutASpine) {
  std::vector<Problem> problems;
  make_fabric({.group = 40, .spines = 0, .switch_ports = 36}, members(80), problems);

  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[0].what, HasSubstr("a leaf has 36 ports, and the rule needs 40"));
  EXPECT_THAT(problems[1].what, HasSubstr("no spine connects them"));
}

TEST(FabricRule, ReportsASpineWithTooFewPorts) {
  std::vector<Problem> problems;
  make_fabric({.group = 20, .spines = 4, .uplinks = 5, .switch_ports = 40}, members(40), problems);

  EXPECT_THAT(problems, ElementsAre(::testing::Field(&Problem::what, HasSubstr("a spine has 40"))));
}

TEST(FabricRule, StopsAtItsLimitOfCables) {
  std::vector<Problem> problems;
  const auto fabric = make_fabric({.group = 1, .spines = 1000, .uplinks = 1000, .switch_ports = 64},
                                  members(64), problems);

  EXPECT_THAT(fabric.cables, IsEmpty());
  EXPECT_THAT(problems.back().what, HasSubstr("at most 2000000 are planned"));
}

TEST(PortLabel, NamesCageAndPortWhereTwoPortsShareACage) {
  EXPECT_EQ(port_label({.name = "leaf", .ports_per_cage = 2}, 13), "7/1");
  EXPECT_EQ(port_label({.name = "leaf", .ports_per_cage = 2}, 10), "5/2");
  EXPECT_EQ(port_label({.name = "leaf"}, 13), "13");
}

}  // namespace
}  // namespace cupel::inventory
