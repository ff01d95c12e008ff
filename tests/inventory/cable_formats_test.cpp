// One small fabric, written down in the manners of integrators, of tools and of spreadsheets: each
// is read as the same cables.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "inventory/cable_files.h"
#include "inventory/check_fabric.h"

namespace cupel::inventory {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// An end as people write it: a node and its HCA, or a switch and its port.
struct Ends {
  std::string from, hca;
  int from_port = 0;  // of an uplink
  std::string to;
  int to_port = 0;
};

/// Four nodes with two rails, two leaves with two uplinks each to a spine.
std::vector<Ends> truth() {
  std::vector<Ends> all;
  for (int node = 1; node <= 4; ++node)
    for (int rail = 0; rail < 2; ++rail)
      all.push_back({fmt::format("a01-n{:02}", node), fmt::format("mlx5_{}", rail), 0,
                     fmt::format("leaf{}", rail + 1), node});
  for (int leaf = 1; leaf <= 2; ++leaf)
    for (int uplink = 1; uplink <= 2; ++uplink)
      all.push_back(
          {fmt::format("leaf{}", leaf), "", 4 + uplink, "spine1", (leaf - 1) * 2 + uplink});
  return all;
}

std::set<std::string> as_set(const Fabric& fabric) {
  const auto text = [](const CableEnd& end) {
    return end.at_switch() ? fmt::format("{}/{}", end.device, end.port)
                           : fmt::format("{}/{}/{}", end.device, end.hca, end.port);
  };
  std::set<std::string> all;
  for (const auto& cable : fabric.cables) all.insert(text(cable.from) + " - " + text(cable.to));
  return all;
}

std::set<std::string> expected() {
  std::set<std::string> all;
  for (const auto& one : truth())
    all.insert(fmt::format("{} - {}/{}",
                           one.hca.empty() ? fmt::format("{}/{}", one.from, one.from_port)
                                           : fmt::format("{}/{}/1", one.from, one.hca),
                           one.to, one.to_port));
  return all;
}

struct ReadList {
  CableFile file{};
  std::vector<std::string> problems{};
};

ReadList read(std::string_view text, int ports_per_cage = 1, const std::string& name = "plan.csv",
              const std::string& columns = "", int switch_ports = 64) {
  CableFileSite site{
      .ports_per_cage = ports_per_cage, .speed = "NDR", .switch_ports = switch_ports};
  for (int node = 1; node <= 4; ++node)
    site.members.push_back({fmt::format("a01-n{:02}", node), {"mlx5_0", "mlx5_1"}});
  std::vector<Problem> problems;
  ColumnNames names;
  if (!columns.empty()) names = column_names(columns).first;
  ReadList read;
  read.file = read_cable_file(parse_cables(text, name, problems, names), site, problems);
  check_fabric(read.file.fabric, problems);
  for (const auto& problem : problems)
    read.problems.push_back(to_string(problem.where) + ": " + problem.what);
  return read;
}

void expect_right(const std::string& what, const ReadList& read) {
  EXPECT_THAT(read.problems, IsEmpty()) << what;
  EXPECT_EQ(as_set(read.file.fabric), expected()) << what;
}

using Line = std::function<std::string(const Ends&)>;
std::string table(const std::string& header, const Line& line) {
  std::string text = header + "\n";
  for (const auto& one : truth()) text += line(one) + "\n";
  return text;
}

std::string port(const Ends& one) {
  return one.hca.empty() ? std::to_string(one.from_port) : one.hca;
}
std::string four(const Ends& one) {
  return fmt::format("{},{},{},{}", one.from, port(one), one.to, one.to_port);
}
/// With the ports of switches, or of nodes, written otherwise.
std::string with_ports(const std::function<std::string(int)>& of_switch) {
  return table("StartDevice,StartPort,EndDevice,EndPort", [&](const Ends& one) {
    return fmt::format("{},{},{},{}", one.from,
                       one.hca.empty() ? of_switch(one.from_port) : one.hca, one.to,
                       of_switch(one.to_port));
  });
}
std::string with_hcas(const std::function<std::string(int)>& of_rail) {
  return table("StartDevice,StartPort,EndDevice,EndPort", [&](const Ends& one) {
    return fmt::format(
        "{},{},{},{}", one.from,
        one.hca.empty() ? std::to_string(one.from_port) : of_rail(one.hca.back() - '0' + 1), one.to,
        one.to_port);
  });
}

TEST(CableFormats, HeadersOfIntegratorsMeanTheFourColumns) {
  for (const auto* header :
       {"Source Device,Source Port,Destination Device,Destination Port",
        "From Device,From Port,To Device,To Port", "Device A,Port A,Device B,Port B",
        "Source,Source Port,Destination,Destination Port", "From,From Port,To,To Port",
        "A,A Port,B,B Port", "A-End Device,A-End Port,B-End Device,B-End Port",
        "src_host,src_port,dst_host,dst_port", "Host,HCA,Switch,Port",
        "SOURCE NODE,SOURCE INTERFACE,TARGET NODE,TARGET INTERFACE",
        "Device 1,Port 1,Device 2,Port 2", "Local Device,Local Port,Remote Device,Remote Port",
        "Server,Server Port,Leaf,Leaf Port", "Node,NIC,ToR,ToR Port",
        "A_END_DEVICE,A_END_PORT,Z_END_DEVICE,Z_END_PORT",
        "AEnd Equipment,AEnd Connector,ZEnd Equipment,ZEnd Connector",
        "Start Device,Start Port,End Device,End Port", "hostA,ifaceA,hostB,ifaceB"})
    expect_right(header, read(table(header, four)));
}

TEST(CableFormats, ColumnsBesideThemAreLeftOutOrRead) {
  const auto text = table(
      "Cable ID,Source Rack,Source U,Source Device,Source Port,Source Transceiver P/N,Destination "
      "Rack,Destination U,Destination Device,Destination Port,Destination Transceiver P/N,Length "
      "(m),Cable Type,Color",
      [](const Ends& one) {
        return fmt::format("C1,R01,10,{},{},MMA4Z00-NS400,S01,40,{},{},MMA4Z00-NS,10,AOC,aqua",
                           one.from, port(one), one.to, one.to_port);
      });

  const auto found = read(text);

  expect_right("integrator", found);
  const auto& cable = found.file.fabric.cables.front();
  EXPECT_EQ(cable.metres, 10);
  EXPECT_EQ(cable.type, CableType::aoc);
  EXPECT_EQ(cable.at_from.model, "MMA4Z00-NS400");
  EXPECT_EQ(FabricMap{found.file.fabric}.find_switch("spine1")->location, "S01");
}

// A column of devices that says nothing of an end is not taken for one where both have theirs.
TEST(CableFormats, AColumnOfOneMoreDeviceIsNoEnd) {
  expect_right("rail's leaf",
               read(table("Leaf,Source Device,Source Port,Destination Device,Destination Port",
                          [](const Ends& one) { return "leaf9," + four(one); })));
}

// Without a header the first cable is not taken for one.
TEST(CableFormats, ACableOfALeafAndASpineIsNoHeader) {
  const auto found = read("leaf-1,port 1,spine-2,port 2\nleaf-1,port 2,spine-2,port 3\n");

  EXPECT_THAT(found.problems, Contains(HasSubstr("plan.csv:1:1: no header")));
}

TEST(CableFormats, HeadersOfTwoLinesAndWithoutAnEndAreReadInTheirOrder) {
  const Line wide = [](const Ends& one) {
    return fmt::format("R1,5,{},{},S1,40,{},{}", one.from, port(one), one.to, one.to_port);
  };
  expect_right(
      "two lines",
      read(table("Source,,,,Destination,,,\nRack,U,Device,Port,Rack,U,Device,Port", wide)));
  expect_right("Cable Validation Tool", read(table("Rack,U,Name,HCA/Port,Rack,U,Name,Port", wide)));
}

TEST(CableFormats, ExportsOfNetBoxAreRead) {
  expect_right("CSV of the API",
               read(table("side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,"
                          "side_b_name,type,status,label",
                          [](const Ends& one) {
                            return fmt::format(
                                "{},dcim.interface,{},{},dcim.interface,{},aoc,connected,x",
                                one.from, port(one), one.to, one.to_port);
                          })));
  expect_right(
      "table of the page",
      read(table("ID,Label,Type,Status,Device A,Termination A,Device B,Termination B,Length",
                 [](const Ends& one) {
                   return fmt::format("1,x,AOC,Connected,{},{},{},{},3.00 Meters", one.from,
                                      port(one), one.to, one.to_port);
                 })));
}

TEST(CableFormats, OneCellMayHaveDeviceAndPort) {
  expect_right("label", read(table("From,To", [](const Ends& one) {
                 return fmt::format("{}:{},{}p{:02}", one.from, port(one), one.to, one.to_port);
               })));
}

TEST(CableFormats, GraphsOfPtmAndListsOfIbdiagnetAreRead) {
  std::string dot = "graph G {\n  graph [hostidtype=\"hostname\", version=\"1:0\"];\n// leaves\n";
  std::string lst;
  for (const auto& one : truth()) {
    dot += one.to_port % 2 == 0 ? fmt::format("  \"{}\":\"{}\" -- \"{}\":\"swp{}\"\n", one.from,
                                              port(one), one.to, one.to_port)
                                : fmt::format("  {}:{} -- {}:swp{} [prescriptive=\"true\"];\n",
                                              one.from, port(one), one.to, one.to_port);
    const auto end = [](const std::string& kind, const std::string& name, int at) {
      return fmt::format(
          "{{ {} Ports:01 SystemGUID:0002c9000100d053 NodeGUID:0002c9000100d050 "
          "PortGUID:0002c9000100d051 VenID:000002C9 DevID:5A440000 Rev:000000A0 {{{}}} LID:0001 "
          "PN:{:02X} }}",
          kind, name, at);
    };
    lst += one.hca.empty() ? end("SW", one.from, one.from_port)
                           : end("CA", one.from + " " + one.hca, 1);
    lst +=
        " " + end("SW", "MF0;" + one.to + ":MQM9700/U1", one.to_port) + " PHY=4x LOG=ACT SPD=5\n";
  }

  expect_right("topology.dot", read(dot + "}\n", 1, "topology.dot"));
  expect_right("topology.dot by its first word", read(dot + "}\n"));
  expect_right("ibdiagnet.lst", read(lst, 1, "ibdiagnet.lst"));
}

TEST(CableFormats, PortsOfHcasAreRead) {
  const std::vector<std::pair<const char*, std::function<std::string(int)>>> manners{
      {"mlx5_0/1", [](int rail) { return fmt::format("mlx5_{}/1", rail - 1); }},
      {"mlx5_0 port 1", [](int rail) { return fmt::format("mlx5_{} port 1", rail - 1); }},
      {"HCA-1", [](int rail) { return fmt::format("HCA-{}", rail); }},
      {"ib0", [](int rail) { return fmt::format("ib{}", rail - 1); }},
      {"OSFP1 P1", [](int rail) { return fmt::format("OSFP1 P{}", rail); }},
      {"MLX5_0", [](int rail) { return fmt::format("MLX5_{}", rail - 1); }},
      {"IB Port 1", [](int rail) { return fmt::format("IB Port {}", rail); }}};
  for (const auto& [what, manner] : manners) expect_right(what, read(with_hcas(manner)));
}

TEST(CableFormats, PortsOfSwitchesWithTwoPortsACageAreRead) {
  const auto cage = [](int port) { return (port - 1) / 2 + 1; };
  const auto in_cage = [](int port) { return (port - 1) % 2 + 1; };
  const std::vector<std::pair<const char*, std::function<std::string(int)>>> manners{
      {"7/1", [&](int port) { return fmt::format("{}/{}", cage(port), in_cage(port)); }},
      {"1/7/1", [&](int port) { return fmt::format("1/{}/{}", cage(port), in_cage(port)); }},
      {"sw7p1", [&](int port) { return fmt::format("sw{}p{}", cage(port), in_cage(port)); }},
      {"IB1/7/1", [&](int port) { return fmt::format("IB1/{}/{}", cage(port), in_cage(port)); }},
      {"swp7s0", [&](int port) { return fmt::format("swp{}s{}", cage(port), in_cage(port) - 1); }},
      {"7A",
       [&](int port) { return fmt::format("{}{}", cage(port), in_cage(port) == 1 ? 'A' : 'B'); }},
      {"Ethernet7/5",
       [&](int port) { return fmt::format("Ethernet{}/{}", cage(port), 4 * in_cage(port) - 3); }},
      {"Et7/3 of four lanes",
       [&](int port) { return fmt::format("Et{}/{}", cage(port), 2 * in_cage(port) - 1); }}};
  for (const auto& [what, manner] : manners) expect_right(what, read(with_ports(manner), 2));
}

TEST(CableFormats, PortsOfSwitchesWithOnePortACageAreRead) {
  for (const auto* form : {"Ethernet{}/1", "Eth1/{}", "et-0/0/{}", "1/1/c{}/1", "swp{}", "Port {}",
                           "{} port 1", "1/{}", "etp{}"})
    expect_right(form,
                 read(with_ports([&](int port) { return fmt::format(fmt::runtime(form), port); })));
  expect_right(
      "SONiC's lanes",
      read(with_ports([](int port) { return fmt::format("Ethernet{}", 8 * (port - 1)); })));
}

TEST(CableFormats, AListOfEachDeviceHasEachCableTwice) {
  expect_right(
      "both ends", read(table("StartDevice,StartPort,EndDevice,EndPort", [](const Ends& one) {
        return four(one) + fmt::format("\n{},{},{},{}", one.to, one.to_port, one.from, port(one));
      })));

  const auto twice =
      read(table("StartDevice,StartPort,EndDevice,EndPort", four) + "a01-n01,mlx5_0,leaf1,1\n");
  EXPECT_THAT(twice.problems, Contains(HasSubstr("plan.csv:14:1: a01-n01 mlx5_0")));
}

TEST(CableFormats, TotalsNotesTitlesAndMergedCellsAreNoErrors) {
  const std::string header = "StartDevice,StartPort,EndDevice,EndPort";
  expect_right("title",
               read("Project Helios - IB compute fabric v1.3,,,\nPrepared by ACME,,,\n,,,\n" +
                    table(header, four)));
  expect_right("total", read(table(header, four) + "Total cables,12,,\n"));
  expect_right("note", read(table(header, four) + "\n,,,\nNote: all AOC cables are MFS1S00,,,\n"));
  expect_right("header again", read(table(header, four) + ",,,\n" + header + "\n"));
  std::string last;
  expect_right("merged", read(table(header, [&](const Ends& one) {
                 const auto from = one.from == last ? "" : one.from;
                 last = one.from;
                 return fmt::format("{},{},{},{}", from, port(one), one.to, one.to_port);
               })));
}

TEST(CableFormats, NodesMayHaveTheirDomain) {
  expect_right("domain", read(table("StartDevice,StartPort,EndDevice,EndPort", [](const Ends& one) {
                 auto written = one;
                 if (!one.hca.empty()) written.from += ".gpu.example.com";
                 return four(written);
               })));
}

TEST(CableFormats, ASwitchInTwoSpellingsIsOne) {
  for (const std::string domain : {"", ".net.example.com"}) {
    int row = 0;
    const auto found = read(table("StartDevice,StartPort,EndDevice,EndPort", [&](const Ends& one) {
      auto written = one;
      if (row++ % 3 == 2) written.to = "L" + written.to.substr(1) + domain;
      if (one.to == "spine1") written.to = one.to;
      return four(written);
    }));
    expect_right("spelled" + domain, found);
  }
}

TEST(CableFormats, RowsOfOtherNetworksAreLeftOutAndCounted) {
  const auto found = read(table("StartDevice,StartPort,EndDevice,EndPort", four) +
                          "a01-n01,BMC,mgmt1,7\na01-n02,eth0,mgmt1,8\nleaf1,mgmt0,mgmt1,9\n"
                          "a01-n01,mlx5_4,stor-leaf1,1\nstor-leaf1,33,stor-spine1,1\n"
                          "stor-srv1,mlx5_0,stor-leaf1,5\n");

  expect_right("other networks", found);
  EXPECT_EQ(found.file.left_out, 6u);
  EXPECT_EQ(to_string(found.file.first_left_out), "plan.csv:14:1");
}

TEST(CableFormats, WhatMayBeATypingErrorIsRefusedWithItsCell) {
  const auto text = table("StartDevice,StartPort,EndDevice,EndPort", four);
  const auto with = [&](const std::string& from, const std::string& to) {
    auto changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, changed.npos);
    return read(changed.replace(at, from.size(), to)).problems;
  };

  EXPECT_THAT(with("a01-n03,mlx5_1", "a01-n30,mlx5_1"),
              Contains(HasSubstr("plan.csv:7:2: 'mlx5_1' is no port of a switch, and the inventory "
                                 "has no node 'a01-n30'")));
  EXPECT_THAT(with("a01-n03,mlx5_1", "a01-n03,mlx5_7"),
              Contains(HasSubstr("plan.csv:7:2: a01-n03 has no compute HCA 'mlx5_7'")));
  EXPECT_THAT(with("leaf2,3", "leaf2,uplink"), Contains(HasSubstr("plan.csv:7:4: 'uplink' is no")));
  EXPECT_THAT(with("leaf2,3", ",3"),
              Contains("plan.csv:7:3: a cable needs two devices and two ports"));
  EXPECT_THAT(with("leaf2,3", "leaf2,99"),
              Contains(HasSubstr("leaf2 has no port 99: its ports are 1 to 64 (switch_ports)")));
}

TEST(CableFormats, AllErrorsOfAListAreReportedAtOnce) {
  const auto found = read(
      "StartDevice,StartPort,EndDevice,EndPort\n"
      "a01-n01,mlx5_0,leaf1,1\na01-n02,mlx5_9,leaf1,2\na01-n03,mlx5_0,leaf1,\n"
      "a01-n40,mlx5_0,leaf1,4\na01-n04,mlx5_0,leaf1,x\n");

  for (const auto* place : {"plan.csv:3:2:", "plan.csv:4:4:", "plan.csv:5:2:", "plan.csv:6:4:"})
    EXPECT_THAT(found.problems, Contains(HasSubstr(place)));
}

TEST(CableFormats, ColumnsOfOtherNamesAreReadWhereTheSiteNamesThem) {
  const auto text = table("Rechner,Karte,Netzgeraet,Buchse", four);

  const auto bare = read(text);
  const auto named =
      read(text, 1, "plan.csv", "from=Rechner, from_port=Karte, to=netzgeraet, to_port=Buchse");

  EXPECT_THAT(bare.problems, Contains(HasSubstr("Name the columns")));
  expect_right("named", named);
  for (const auto* wrong : {"from", "from=", "host=Rechner", "from=a,from=b"})
    EXPECT_THAT(column_names(wrong).second, HasSubstr("is not COLUMN=NAME")) << wrong;
}

TEST(CableFormats, AWorkbookIsToBeSavedAsCsv) {
  const auto found =
      read(std::string_view{"PK\x03\x04\x14\x00\x06\x00 workbook", 17}, 1, "plan.xlsx");

  ASSERT_THAT(found.problems, SizeIs(::testing::Ge(1u)));
  EXPECT_THAT(found.problems[0], HasSubstr("save the sheet with the cables as CSV"));
}

TEST(CableFormats, LinesOfGraphsThatAreNoCablesAreReported) {
  const auto dot = read("graph G {\n\"a01-n01\" -- \"leaf1\":\"swp1\"\n}\n", 1, "x.dot");
  const auto lst = read("{ CA Ports:01 {a01-n01 mlx5_0} LID:0001 PN:01 }\n", 1, "x.lst");

  EXPECT_THAT(dot.problems, Contains(HasSubstr("x.dot:2:1: a cable is \"DEVICE\":\"PORT\"")));
  EXPECT_THAT(lst.problems, Contains(HasSubstr("x.lst:1:1: a link of ibdiagnet is")));
}

}  // namespace
}  // namespace cupel::inventory
