// Cables of an Ethernet fabric: LLDP of each node against the plan, and what the stage
// fabric-cables makes of it.
#include "burnin/fabric/lldp_cables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "burnin/group_stage.h"
#include "inventory/fabric_rule.h"
#include "inventory/port_names.h"
#include "tests/burnin/stages.h"
#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a node of an Ethernet fabric prints.
struct EthernetReport {
  struct Port {
    std::string hca{}, interface{}, state{"up"}, device{}, remote{};
  };
  std::vector<Port> ports{};
  bool lldpd = true;

  Output output() const {
    std::string text, neighbours;
    for (const auto& each : ports) {
      text += fmt::format("guid {0} a088:c203:0000:0001\nethernet {0}\nnet {0} {1} {2}\n", each.hca,
                          each.interface, each.state);
      if (each.device.empty()) continue;
      neighbours += fmt::format(
          R"({}{{"name":"{}","chassis":[{{"id":[{{"type":"mac","value":"3a:49:05:72:bd:15"}}],)"
          R"("name":[{{"value":"{}"}}]}}],"port":[{{"id":[{{"type":"ifname","value":"{}"}}]}}]}})",
          neighbours.empty() ? "" : ",", each.interface, each.device, each.remote);
    }
    if (!lldpd) return {text + "cupel-no-lldp: lldpctl is not installed (lldpd)\n", "", 0};
    return {text + "cupel-begin: lldp\n{\"lldp\":[{\"interface\":[" + neighbours +
                "]}]}\n\ncupel-end\n",
            "", 0};
  }
};

/// Three nodes with two rails, a leaf for each rail, and a spine above them.
inventory::Fabric ethernet_plan() {
  std::vector<inventory::FabricMember> members;
  for (int i = 1; i <= 3; ++i) members.push_back({fmt::format("n{}", i), {"mlx5_0", "mlx5_1"}});
  std::vector<inventory::Problem> problems;
  return make_fabric({.group = 3, .spines = 1, .uplinks = 2}, members, problems);
}

EthernetReport as_planned(int node) {
  const auto port = fmt::format("swp{}", node);
  return {{{"mlx5_0", "eth4", "up", "leaf1-r1", port},
           {"mlx5_1", "eth5", "up", "leaf1-r2.site.example", port}}};
}

std::vector<EthernetReport> all_as_planned() {
  return {as_planned(1), as_planned(2), as_planned(3)};
}

Result<GroupFindings> compared(const std::vector<EthernetReport>& reports) {
  const auto plan = ethernet_plan();
  const inventory::Profile profile;
  std::vector<Member> nodes;
  for (std::size_t i = 0; i < reports.size(); ++i)
    nodes.push_back({fmt::format("n{}", i + 1), "10.0.0.1"});
  const auto begun = stage("fabric-cables")->group->rounds({profile, nodes, {}, &plan}).value();
  EXPECT_THAT(begun->next().at(2)->script, HasSubstr(R"("report":true)"));
  std::vector<std::optional<Output>> outputs;
  for (const auto& each : reports) outputs.push_back(each.output());
  begun->take(outputs, std::vector<bool>(nodes.size()));
  EXPECT_THAT(begun->next(), IsEmpty()) << "each node has reported its own cables";
  return begun->findings();
}

TEST(LldpCables, ThatAreInTheirPortsAreRight) {
  const auto found = compared(all_as_planned());

  ASSERT_TRUE(found) << found.error().what;
  for (const auto& member : found->members) {
    EXPECT_EQ(value_of(member, "fabric.cables"), 2);
    for (const auto* hca : {"mlx5_0", "mlx5_1"})
      EXPECT_EQ(value_of(member, "fabric.cable.wrong", hca), 0);
    EXPECT_EQ(value_of(member, "fabric.undecided", "all"), std::nullopt);
  }
  EXPECT_THAT(found->reasons, AllOf(Contains(HasSubstr("looked by LLDP on each node")),
                                    Contains(HasSubstr("6 of 6 cables are in their ports"))));
  EXPECT_THAT(found->links, IsEmpty());
}

TEST(LldpCables, ThatAreCrossedAreNamedWithTheMove) {
  auto reports = all_as_planned();
  std::swap(reports[0].ports[0].remote, reports[1].ports[0].remote);

  const auto found = compared(reports);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(found->members[0], "fabric.cable.wrong", "mlx5_0"), 1);
  EXPECT_EQ(value_of(found->members[1], "fabric.cable.wrong", "mlx5_0"), 1);
  EXPECT_EQ(value_of(found->members[0], "fabric.cable.wrong", "mlx5_1"), 0);
  EXPECT_EQ(value_of(found->members[2], "fabric.cable.wrong", "mlx5_0"), 0);
  EXPECT_THAT(found->reasons,
              Contains(HasSubstr("Swap the plugs in leaf1-r1 port 2 and leaf1-r1 port 1")));
}

TEST(LldpCables, WithoutANeighbourAreMissingWhereThePortIsDownAndElseUndecided) {
  auto reports = all_as_planned();
  reports[0].ports[0] = {"mlx5_0", "eth4", "down", "", ""};
  reports[1].ports[0] = {"mlx5_0", "eth4", "up", "", ""};
  reports[2].ports[0].remote = "to-rack-7";

  const auto found = compared(reports);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(found->members[0], "fabric.cable.wrong", "mlx5_0"), 1);
  EXPECT_EQ(value_of(found->members[1], "fabric.cable.wrong", "mlx5_0"), std::nullopt);
  EXPECT_EQ(value_of(found->members[1], "fabric.undecided", "mlx5_0"), 1);
  EXPECT_EQ(value_of(found->members[2], "fabric.undecided", "mlx5_0"), 1);
  EXPECT_THAT(found->members[2].measurements.back().traced_to,
              HasSubstr("'to-rack-7' of leaf1-r1"));
}

/// With the names that another operating system gives the ports of leaves.
std::vector<EthernetReport> named(const std::function<std::string(int)>& port) {
  auto reports = all_as_planned();
  for (int node = 1; node <= 3; ++node)
    for (auto& each : reports[static_cast<std::size_t>(node - 1)].ports) each.remote = port(node);
  return reports;
}

TEST(LldpCables, ArePlacedByTheManyThatAgreeWhereNamesCountLanes) {
  const std::vector<std::function<std::string(int)>> manners{
      [](int port) { return fmt::format("Ethernet{}", 8 * (port - 1)); },
      [](int port) { return fmt::format("Ethernet{}", 4 * (port - 1)); },
      [](int port) { return fmt::format("et-0/0/{}", port - 1); },
      [](int port) { return fmt::format("Ethernet{}/1", port); }};
  for (const auto& manner : manners) {
    const auto found = compared(named(manner));

    ASSERT_TRUE(found) << found.error().what;
    for (const auto& member : found->members)
      for (const auto* hca : {"mlx5_0", "mlx5_1"})
        EXPECT_EQ(value_of(member, "fabric.cable.wrong", hca), 0) << manner(2);
  }
}

TEST(LldpCables, AreUndecidedWhereNothingSaysHowNamesCount) {
  // Of a switch that counts lanes every port may be another one: no move may follow.
  const auto found = compared(named([](int port) { return fmt::format("Ethernet{}", 16 * port); }));

  if (found) {
    for (const auto& member : found->members) {
      EXPECT_EQ(value_of(member, "fabric.cable.wrong", "mlx5_0"), std::nullopt);
      EXPECT_EQ(value_of(member, "fabric.undecided", "mlx5_0"), 1);
    }
  } else {
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  }
}

TEST(LldpCables, OfANodeWithoutLldpdAreUndecided) {
  auto reports = all_as_planned();
  reports[1].lldpd = false;

  const auto found = compared(reports);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(found->members[1], "fabric.cables"), std::nullopt);
  EXPECT_EQ(value_of(found->members[1], "fabric.undecided", "all"), 1);
  EXPECT_EQ(value_of(found->members[0], "fabric.cable.wrong", "mlx5_0"), 0);
}

TEST(LldpCables, ProveNothingWhereNoNodeHasANeighbour) {
  auto reports = all_as_planned();
  for (auto& each : reports) each.lldpd = false;

  const auto found = compared(reports);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kNoMeasurement);
  EXPECT_THAT(found.error().what, HasSubstr("n1: lldpctl is not installed"));
}

TEST(LldpCables, AreNotLookedForWhereOneHcaOfAnInfiniBandFabricIsInEthernetMode) {
  const auto plan = ethernet_plan();
  EthernetReport one;
  one.ports = {{"mlx5_0", "eth4", "down", "", ""}};
  const auto node = fabric::read_ethernet("n1", one.output());
  ASSERT_TRUE(node);
  const std::vector<std::string> all{"n1", "n2", "n3"};

  EXPECT_FALSE(fabric::is_ethernet(plan, all, std::span{&*node, 1}));
  EXPECT_FALSE(fabric::read_ethernet("n2", {"guid mlx5_0 a088:c203:0000:0001\n", "", 0}));
}

TEST(LldpCables, AreReadFromWhatLldpdItselfPrints) {
  CUPEL_NEEDS_FABRIC_FILE(printed, "generated/lldp_n1.json");
  inventory::Fabric plan;
  plan.switches = {{.name = "sw1"}, {.name = "sw2"}};
  plan.nodes = {{.name = "n1", .hcas = {"mlx5_0", "mlx5_1"}}};
  plan.cables = {{.from = {"n1", "mlx5_0", 1}, .to = {"sw1", "", 1}},
                 {.from = {"n1", "mlx5_1", 1}, .to = {"sw2", "", 1}}};
  const Output output{
      "ethernet mlx5_0\nnet mlx5_0 eth0 up\nethernet mlx5_1\nnet mlx5_1 eth1 up\n"
      "cupel-begin: lldp\n" +
          printed + "\ncupel-end\n",
      "", 0};

  const auto node = fabric::read_ethernet("n1", output);
  ASSERT_TRUE(node);
  const auto found = fabric::audit_by_lldp(plan, std::span{&*node, 1});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_TRUE(found->audit.passed());
  EXPECT_EQ(found->audit.right, 2u);
}

TEST(PortNames, HaveTheNumberOfThePort) {
  using inventory::port_of_name;
  EXPECT_EQ(port_of_name("swp13", 1), 13);
  EXPECT_EQ(port_of_name("swp7s1", 2), 14);
  EXPECT_EQ(port_of_name("swp7s0", 1), 7);
  EXPECT_EQ(port_of_name("Ethernet1/13", 1), 13);
  EXPECT_EQ(port_of_name("Ethernet13/1", 1), 13);
  EXPECT_EQ(port_of_name("Ethernet7/2", 2), 14);
  EXPECT_EQ(port_of_name("Eth1/7/2", 2), 14);
  EXPECT_EQ(port_of_name("etp7", 1), 7);
  EXPECT_EQ(port_of_name("sw7p2", 2), 14);
  EXPECT_EQ(port_of_name("1/1/c5/1", 1), std::nullopt) << "no word before it";
  EXPECT_EQ(port_of_name("et-0/0/5", 1), 5);
  EXPECT_EQ(port_of_name("et-0/0/0", 1, {.from_zero = true}), 1);
  EXPECT_EQ(port_of_name("Ethernet7/5", 2, {.lane_step = 4}), 14);
  EXPECT_EQ(port_of_name("Ethernet8", 1, {.lanes = 8}), 2);
  EXPECT_EQ(port_of_name("Ethernet9", 1, {.lanes = 8}), std::nullopt);
  for (const auto* none : {"", "13", "swp", "swp0", "swp7s2", "to n1", "3a:49:05:72:bd:15",
                           "Ethernet3/4", "Eth2/7/1", "swp99999999999", "swp-1"})
    EXPECT_EQ(port_of_name(none, 1), std::nullopt) << none;
}

/// What both ends of the planned cables between switches report; `exchanged`: the plugs of the
/// spine's ports 1 and 2.
std::vector<fabric::SwitchNeighbours> switches_of(const inventory::Fabric& plan, bool exchanged) {
  std::map<std::string, fabric::SwitchNeighbours> reports;
  for (const auto& cable : plan.cables) {
    if (cable.is_access()) continue;
    auto spine_port = cable.to.port;
    if (exchanged && spine_port <= 2) spine_port = 3 - spine_port;
    const auto leaf = fmt::format("swp{}", cable.from.port),
               spine = fmt::format("swp{}", spine_port);
    reports[cable.from.device].neighbours.push_back(
        {.port = leaf, .device = cable.to.device + ".site.example", .remote = spine});
    reports[cable.to.device].neighbours.push_back(
        {.port = spine, .device = cable.from.device, .remote = leaf});
  }
  std::vector<fabric::SwitchNeighbours> all;
  for (auto& [name, report] : reports) {
    report.name = name;
    report.neighbours.push_back({.port = "swp1", .device = "n1", .remote = "eth4"});
    all.push_back(std::move(report));
  }
  return all;
}

TEST(LldpSwitches, ComparesTheCablesBetweenThem) {
  const auto plan = ethernet_plan();

  const auto right = fabric::audit_switches_by_lldp(plan, switches_of(plan, false));
  const auto wrong = fabric::audit_switches_by_lldp(plan, switches_of(plan, true));

  ASSERT_TRUE(right) << right.error().what;
  EXPECT_TRUE(right->audit.passed());
  EXPECT_EQ(right->audit.planned, 4u) << "two leaves with two uplinks each";
  EXPECT_EQ(right->audit.right, 4u);
  ASSERT_TRUE(wrong) << wrong.error().what;
  ASSERT_EQ(wrong->audit.findings.size(), 1u);
  EXPECT_EQ(wrong->audit.findings[0].fault, inventory::CableFault::swapped);
  EXPECT_THAT(wrong->audit.findings[0].instruction,
              AllOf(HasSubstr("Swap the plugs in"), HasSubstr("spine1 port 1"),
                    HasSubstr("spine1 port 2")));
}

TEST(LldpSwitches, MissNoCableWhosePortIsNotUnderstood) {
  auto plan = ethernet_plan();
  for (auto& one : plan.switches) one.ports_per_cage = 2;
  auto lanes = switches_of(plan, false), mixed = lanes;
  const auto of_lane = [](const std::string& name) {  // swp4 is the second port of cage 2
    const int port = name.starts_with("swp") ? std::stoi(name.substr(3)) : 0;
    return port == 0 ? name : fmt::format("Ethernet{}/{}", (port + 1) / 2, port % 2 == 1 ? 1 : 5);
  };
  for (auto& each : lanes)
    for (auto& neighbour : each.neighbours) {
      neighbour.port = of_lane(neighbour.port);
      neighbour.remote = of_lane(neighbour.remote);
    }
  // Ports of one switch in two manners: neither can be trusted.
  for (auto& each : mixed)
    if (each.name == "spine1")
      for (auto& neighbour : each.neighbours)
        neighbour.port = neighbour.port == "swp1" ? "Ethernet1/2" : of_lane(neighbour.port);
  std::erase_if(mixed, [](const auto& each) { return each.name != "spine1"; });

  const auto right = fabric::audit_switches_by_lldp(plan, lanes);
  const auto unclear = fabric::audit_switches_by_lldp(plan, mixed);

  ASSERT_TRUE(right) << right.error().what;
  EXPECT_TRUE(right->audit.passed()) << ::testing::PrintToString(right->audit.unknown);
  EXPECT_EQ(right->audit.right, 4u);
  EXPECT_TRUE(!unclear || unclear->audit.findings.empty());
}

TEST(LldpSwitches, MissACableOnlyWhereBothEndsReported) {
  const auto plan = ethernet_plan();
  auto all = switches_of(plan, false);
  for (auto& each : all)
    std::erase_if(each.neighbours, [&](const LldpNeighbour& neighbour) {
      return (each.name == "spine1" ? neighbour.port : neighbour.remote) == "swp1" &&
             neighbour.remote != "eth4";
    });
  auto leaves = all;
  std::erase_if(leaves, [](const auto& each) { return each.name == "spine1"; });

  const auto found = fabric::audit_switches_by_lldp(plan, all);
  const auto half = fabric::audit_switches_by_lldp(plan, leaves);

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->audit.findings.size(), 1u);
  EXPECT_EQ(found->audit.findings[0].fault, inventory::CableFault::missing);
  ASSERT_TRUE(half) << half.error().what;
  EXPECT_TRUE(half->audit.passed());
  EXPECT_EQ(half->audit.planned, 3u);
}

TEST(LldpSwitches, WithoutAnyNeighbourProveNothingOfTheirCables) {
  const auto plan = ethernet_plan();
  auto all = switches_of(plan, false);
  std::string silent;
  for (auto& each : all)
    if (each.name != "spine1" && silent.empty()) {
      silent = each.name;
      each.neighbours.clear();
    }
  for (auto& each : all)
    std::erase_if(each.neighbours, [&](const auto& seen) { return seen.device == silent; });

  const auto found = fabric::audit_switches_by_lldp(plan, all);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_TRUE(found->audit.findings.empty());
  EXPECT_THAT(found->audit.unknown,
              ::testing::ElementsAre(HasSubstr(silent + ": LLDP reports no neighbour")));
  EXPECT_EQ(found->audit.planned, 2u) << "the other leaf's";
}

TEST(LldpSwitches, AreNotJudgedWherePortsHaveNoNumberOrTheNameIsUnknown) {
  const auto plan = ethernet_plan();
  auto all = switches_of(plan, false);
  all.push_back({.name = "other-site", .neighbours = {}});
  all[0].neighbours.push_back({.port = "mgmt", .device = "spine1", .remote = "swp9"});

  const auto found = fabric::audit_switches_by_lldp(plan, all);
  const auto none = fabric::audit_switches_by_lldp(plan, {});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_FALSE(found->audit.passed());
  EXPECT_THAT(found->audit.unknown,
              ::testing::UnorderedElementsAre(HasSubstr("other-site is no switch of the plan"),
                                              HasSubstr("port 'mgmt'")));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNoMeasurement);
}

}  // namespace
}  // namespace cupel::burnin
