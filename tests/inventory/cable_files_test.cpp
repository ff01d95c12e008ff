#include "inventory/cable_files.h"

#include <gmock/gmock.h>

#include "inventory/check_fabric.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const CableFileSite kSite{.members = {{"n01", {"mlx5_0", "mlx5_3"}}, {"n02", {"mlx5_0", "mlx5_3"}}},
                          .ports_per_cage = 2,
                          .speed = "NDR"};

struct Read {
  Fabric fabric;
  std::vector<Problem> problems;
};

/// Of nodes with the first of these HCAs alone.
CableFileSite one_hca() {
  auto site = kSite;
  for (auto& member : site.members) member.hcas.resize(1);
  return site;
}

Read read(std::string_view text, const std::string& file, const CableFileSite& site = one_hca()) {
  Read read;
  read.fabric =
      read_cable_file(parse_cables(text, file, read.problems), site, read.problems).fabric;
  check_fabric(read.fabric, read.problems);
  return read;
}

TEST(CableFiles, ReadsAnNdtWithPortsAsNvidiaWritesThem) {
  const auto [fabric, problems] = read(
      "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
      "n01,n01 mlx5_0,LEAF1,Port 1, Data\n"
      "leaf1,Port 2,N02,IB Port 1,Data\n"
      "leaf1,Port 33,core-A,Blade 16_Port 2/20,Data\n",
      "site.ndt");

  EXPECT_THAT(problems, IsEmpty());
  const FabricMap map{fabric};
  EXPECT_EQ(map.rail_port("n01", 0), (RailPort{"mlx5_0", "LEAF1", 1}));
  EXPECT_EQ(map.rail_port("n02", 0), (RailPort{"mlx5_0", "LEAF1", 2}));
  EXPECT_THAT(map.uplinks("LEAF1"), ElementsAre(Uplink{"LEAF1", 33, "core-A/L16/U2", 20}));
  EXPECT_EQ(map.find_switch("core-A/L16/U2")->level, SwitchLevel::spine);
  EXPECT_EQ(map.find_switch("LEAF1")->rail, 0);
}

TEST(CableFiles, ReadsAPointToPointTableInAnyOrderOfItsColumns) {
  const auto [fabric, problems] = read(
      "Z-Port,Z-Node Name,Z-Type,A-Port,A-Node Name,A-Type,Length,Cable Type\r\n"
      "7/1,leaf1,MQM9700,mlx5_0,n01,DGX,5.5,AOC\r\n"
      "\"7/2\",\"leaf1\",MQM9700,mlx5_0,n02,DGX,3,DAC\r\n",
      "p2p.csv");

  EXPECT_THAT(problems, IsEmpty());
  ASSERT_EQ(fabric.cables.size(), 2u);
  EXPECT_EQ(fabric.cables[0].to, (CableEnd{"leaf1", "", 13}));
  EXPECT_EQ(fabric.cables[0].type, CableType::aoc);
  EXPECT_EQ(fabric.cables[0].metres, 5.5);
  EXPECT_EQ(fabric.cables[1].to, (CableEnd{"leaf1", "", 14}));
}

TEST(CableFiles, ReadsATableInAllMannersOfSpreadsheets) {
  const auto [fabric, problems] = read(
      "\xEF\xBB\xBF"
      "Cables of hall 2\r\n"
      "A-Node Name;A-Port;Z-Node Name;Z-Port;Remark;Length\r\n"
      "n01;mlx5_0;leaf1;=\"7/1\";\"behind\r\nthe door; left\";5.5\r\n"
      "n02;mlx5_0;leaf1;7/2;3/4\" bend;3\r\n",
      "p2p.csv");

  EXPECT_THAT(problems, IsEmpty());
  ASSERT_EQ(fabric.cables.size(), 2u);
  EXPECT_EQ(fabric.cables[0].to, (CableEnd{"leaf1", "", 13}));
  EXPECT_EQ(fabric.cables[0].metres, 5.5);
  EXPECT_EQ(fabric.cables[1].metres, 3);
}

TEST(CableFiles, NamesTheLineOfAQuoteThatIsNotClosed) {
  std::vector<Problem> problems;

  const auto rows = parse_cables(
      "StartDevice,StartPort,EndDevice,EndPort\n"
      "n01,\"mlx5_0,leaf1,1\n"
      "n02,mlx5_0,leaf1,2\n",
      "site.csv", problems);

  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].from, "n02");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].what, "a quote is opened here and not closed");
  EXPECT_EQ(problems[0].where.line, 2);
}

TEST(CableFiles, AreNotReadToTheirEndWhereNearlyAllRowsAreBad) {
  std::string text = "StartDevice,StartPort,EndDevice,EndPort\n";
  for (int row = 0; row < 3'000; ++row) text += "n01,,leaf1,\n";
  std::vector<Problem> problems;

  EXPECT_THAT(parse_cables(text, "site.csv", problems), IsEmpty());

  EXPECT_EQ(problems.size(), 1'001u);
  EXPECT_THAT(problems.back().what, HasSubstr("the rest is not read"));
}

TEST(CableFiles, ReadsSerialNumbersOfCablesAndOfTransceiversAtTheirEnds) {
  const auto [fabric, problems] = read(
      "A-Node Name,A-Port,A-Serial,Z-Node Name,Z-Port,Z-Module,Z-Serial,Cable Serial,Cable Type\n"
      "leaf1,1,FT-leaf,n01,mlx5_0,MMA4Z00,FT-node,,MPO\n"
      "n02,mlx5_0,,leaf1,2,,,VS-2,DAC\n"
      "spine1,1,FT-spine,leaf1,33,,FT-up,,MPO\n",
      "p2p.csv");

  EXPECT_THAT(problems, IsEmpty());
  ASSERT_EQ(fabric.cables.size(), 3u);
  EXPECT_EQ(fabric.cables[0].at_from, (Transceiver{.model = "MMA4Z00", .serial = "FT-node"}));
  EXPECT_EQ(fabric.cables[0].at_to, (Transceiver{.serial = "FT-leaf"}));
  EXPECT_EQ(fabric.cables[1].serial, "VS-2");
  EXPECT_EQ(fabric.cables[2].from.device, "leaf1");
  EXPECT_EQ(fabric.cables[2].at_from.serial, "FT-up");
}

TEST(CableFiles, ReadsATopoFile) {
  const auto [fabric, problems] = read(
      "# a comment\n"
      "MQM9700 leaf1\n"
      "   P1 -4x-NDR-> HCA n01 mlx5_0\n"
      "   P2 -4x-NDR-> HCA n02 mlx5_0\n"
      "MQM9700 spine1\n"
      "   P1 -> MQM9700 leaf1 P33\n",
      "site.topo");

  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(FabricMap{fabric}.uplinks("leaf1"), ElementsAre(Uplink{"leaf1", 33, "spine1", 1}));
}

TEST(CableFiles, ReportsEveryProblemWithItsLine) {
  const auto [fabric, problems] = read(
      "StartDevice,StartPort,EndDevice,EndPort\n"
      "n01,mlx5_0,leaf1,1\n"
      "n02,mlx5_0,leaf1,1\n"
      "n01,mlx5_9,leaf1,3\n"
      "n03,mlx5_0,leaf1,4\n"
      "n02,mlx5_3,,5\n",
      "site.csv", kSite);

  std::vector<std::string> found;
  for (const auto& problem : problems)
    found.push_back(to_string(problem.where) + ": " + problem.what);
  EXPECT_THAT(found,
              ElementsAre("site.csv:6:3: a cable needs two devices and two ports",
                          "site.csv:4:2: n01 has no compute HCA 'mlx5_9'; it has mlx5_0, mlx5_3",
                          HasSubstr("site.csv:5:2: 'mlx5_0' is no port of a switch, and the "
                                    "inventory has no node 'n03'"),
                          HasSubstr("site.csv:3:1: leaf1 port 1/1 has two cables"),
                          "site.csv:2:1: n01 has no cable for mlx5_3: add it to the plan, or list "
                          "the HCAs that have one (hcas, or rails of the profile)",
                          HasSubstr("site.csv:3:1: n02 has no cable for mlx5_3")));
}

TEST(CableFiles, RefusesATableWithoutItsColumns) {
  for (const auto* text : {"cyber sport > usual sport", "", "a,b\n1,2\n",
                           "#StartDevice,EndDevice,EndPort,LinkType\nx,y,1,Data\n"}) {
    std::vector<Problem> problems;
    EXPECT_THAT(parse_cables(text, "x.ndt", problems), IsEmpty()) << text;
    EXPECT_EQ(problems.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace cupel::inventory
