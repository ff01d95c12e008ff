// A slow link slows exactly the pairs that cross it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "inventory/fabric_rule.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "rehearsal/physics/fabric.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr VirtualTime kNow{100};
constexpr int kNodes = 9, kRails = 8;

std::string node_name(int i) { return fmt::format("n{:02}", i); }
std::string rail(int i) { return fmt::format("mlx5_{}", i); }

/// Nine nodes in groups of four, all on.
Fabric nine_nodes() {
  FabricPlan plan{.nodes_of_group = 4, .spines = 4};
  for (int i = 0; i < kNodes; ++i) {
    FabricNode node{.name = node_name(i), .adapters = {}};
    for (int k = 0; k < kRails; ++k)
      node.adapters.push_back(
          {.name = rail(k), .guid = fmt::format("946d:ae00:{:04x}:{:04x}", i, k)});
    plan.nodes.push_back(std::move(node));
  }
  Fabric fabric{std::move(plan), 1};
  for (int i = 0; i < kNodes; ++i) fabric.set_power(node_name(i), true, VirtualTime{0});
  return fabric;
}

struct Pair {
  std::string name;
  std::vector<std::string> links;
  double gbit;
};

std::vector<Pair> all_pairs(const Fabric& fabric) {
  std::vector<Pair> pairs;
  for (int i = 0; i < kNodes * kRails; ++i)
    for (int k = 0; k < kNodes * kRails; ++k) {
      const auto a = node_name(i / kRails), b = node_name(k / kRails);
      const auto x = rail(i % kRails), y = rail(k % kRails);
      if (i == k) continue;
      pairs.push_back({a + "/" + x + " to " + b + "/" + y, fabric.path(a, x, b, y),
                       fabric.gbit_between(a, x, b, y, kNow)});
    }
  return pairs;
}

/// Those that cross the link are slower than before, and no other is anything else than before.
void expect_only_slowed(const std::vector<Pair>& before, const std::vector<Pair>& after,
                        const std::string& link) {
  ASSERT_EQ(before.size(), after.size());
  std::size_t slowed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool crosses = std::ranges::count(before[i].links, link) > 0;
    if (crosses)
      EXPECT_LT(after[i].gbit, before[i].gbit * 0.6) << after[i].name;
    else
      EXPECT_EQ(after[i].gbit, before[i].gbit) << after[i].name;
    slowed += crosses ? 1 : 0;
  }
  EXPECT_GT(slowed, 0);
  EXPECT_LT(slowed, before.size());
}

FabricNode node_with(const std::vector<const char*>& hcas, const inventory::Profile& profile) {
  Hardware hardware;
  hardware.node = "n01";
  for (const auto* name : hcas) {
    Adapter adapter{};
    adapter.name = name;
    adapter.infiniband = true;
    hardware.adapters.push_back(adapter);
  }
  return fabric_node(hardware, profile);
}

TEST(FabricTest, ARailIsAPlaceInTheListOfComputeHcasAndNotTheNumberOfAnHca) {
  inventory::Profile profile;
  profile.rails = {"mlx5_0", "mlx5_6"};

  Fabric fabric{FabricPlan{.nodes = {node_with({"mlx5_0", "mlx5_4", "mlx5_6"}, profile)}}, 1};
  fabric.set_power("n01", true, VirtualTime{0});

  EXPECT_EQ(fabric.port("n01", "mlx5_6", kNow)->peer, "leaf1-r2");
  EXPECT_EQ(fabric.port("n01", "mlx5_4", kNow)->peer, "leaf1-r3");
}

TEST(FabricTest, AMissingHcaDoesNotShiftTheRailsOfTheOthers) {
  inventory::Profile listed, counted;
  listed.rails = {"mlx5_0", "mlx5_1", "mlx5_2"};
  counted.parts.push_back({.kind = inventory::PartKind::hca, .count = 3});

  for (const auto* profile : {&listed, &counted}) {
    Fabric fabric{FabricPlan{.nodes = {node_with({"mlx5_0", "mlx5_2"}, *profile)}}, 1};
    fabric.set_power("n01", true, VirtualTime{0});
    EXPECT_EQ(fabric.port("n01", "mlx5_2", kNow)->peer, "leaf1-r3");
  }
}

TEST(FabricTest, ASlowHcaSlowsExactlyThePairsWithIt) {
  auto fabric = nine_nodes();
  const auto before = all_pairs(fabric);
  fabric.set_faults("n02", {{.kind = FaultKind::hca_slow, .part = "mlx5_3", .amount = 200}}, kNow);

  expect_only_slowed(before, all_pairs(fabric), "n02/mlx5_3");
  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->gbit, 200);
  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->speed, "HDR");
}

TEST(FabricTest, ABadLeafPortSlowsExactlyThePairsWithIt) {
  auto fabric = nine_nodes();
  const auto before = all_pairs(fabric);
  fabric.set_faults("n05", {{.kind = FaultKind::leaf_port_bad, .part = "mlx5_7"}}, kNow);

  expect_only_slowed(before, all_pairs(fabric), "n05/mlx5_7");
  EXPECT_EQ(fabric.port("n05", "mlx5_7", kNow)->gbit, 400);
  EXPECT_GT(fabric.port("n05", "mlx5_7", kNow + VirtualTime{3600})->counters.receive_errors, 3000);
}

TEST(FabricTest, ADegradedUplinkSlowsExactlyThePairsThatAreRoutedOverIt) {
  auto fabric = nine_nodes();
  const auto before = all_pairs(fabric);
  fabric.set_faults("n01", {{.kind = FaultKind::uplink_slow, .part = "mlx5_2", .number = 1}}, kNow);

  expect_only_slowed(before, all_pairs(fabric), "leaf1-r3/spine2");
}

TEST(FabricTest, ACableMayBeSlowOneWayAlone) {
  auto fabric = nine_nodes();
  fabric.set_faults(
      "n02", {{.kind = FaultKind::cable_slow, .part = "mlx5_3", .amount = 0.5, .other = "out"}},
      kNow);

  EXPECT_LT(fabric.gbit_between("n02", "mlx5_3", "n01", "mlx5_3", kNow), 201);
  EXPECT_GT(fabric.gbit_between("n01", "mlx5_3", "n02", "mlx5_3", kNow), 390);
}

TEST(FabricTest, ABadCageSlowsTheTwoPortsThatShareIt) {
  auto plan = nine_nodes().plan();
  auto cables = std::make_shared<inventory::Fabric>();
  std::vector<inventory::FabricMember> members;
  for (const auto& node : plan.nodes) members.push_back({node.name, {rail(0), rail(1)}});
  std::vector<inventory::Problem> problems;
  *cables = make_fabric({.group = 4, .spines = 2, .ports_per_cage = 2}, members, problems);
  plan.planned = cables;
  Fabric fabric{plan, 1};
  for (int i = 0; i < kNodes; ++i) fabric.set_power(node_name(i), true, VirtualTime{0});
  fabric.set_faults("n02", {{.kind = FaultKind::cage_bad, .part = "mlx5_1"}}, kNow);

  EXPECT_LT(fabric.gbit_between("n02", "mlx5_1", "n00", "mlx5_1", kNow), 201);
  EXPECT_LT(fabric.gbit_between("n03", "mlx5_1", "n00", "mlx5_1", kNow), 201);
  EXPECT_GT(fabric.gbit_between("n01", "mlx5_1", "n00", "mlx5_1", kNow), 390);
  EXPECT_GT(fabric.gbit_between("n03", "mlx5_0", "n00", "mlx5_0", kNow), 390);
  EXPECT_THAT(fabric.port("n02", "mlx5_2", kNow)->peer, HasSubstr("storage"))
      << "the plan does not have it";
  EXPECT_EQ(fabric.gbit_between("n02", "mlx5_2", "n00", "mlx5_0", kNow), 0)
      << "no cable leads there";
}

TEST(FabricTest, ASlowSpineAndASlowLeafSlowWhatCrossesThem) {
  auto fabric = nine_nodes();
  fabric.set_faults("n00", {{.kind = FaultKind::spine_slow, .part = "mlx5_0", .number = 1}}, kNow);
  EXPECT_LT(fabric.gbit_between("n00", "mlx5_4", "n05", "mlx5_4", kNow), 201) << "to place 2";
  EXPECT_GT(fabric.gbit_between("n00", "mlx5_4", "n04", "mlx5_4", kNow), 390) << "to place 1";

  fabric.set_faults("n00", {{.kind = FaultKind::leaf_slow, .part = "mlx5_4"}}, kNow);
  EXPECT_LT(fabric.gbit_between("n01", "mlx5_4", "n02", "mlx5_4", kNow), 201);
  EXPECT_GT(fabric.gbit_between("n01", "mlx5_3", "n02", "mlx5_3", kNow), 390);
}

TEST(FabricTest, ABadPairSlowsWhatItsTwoPortsExchangeAndNothingElse) {
  auto fabric = nine_nodes();
  const auto before = all_pairs(fabric);
  fabric.set_faults(
      "n02", {{.kind = FaultKind::pair_slow, .part = "mlx5_3", .amount = 0.4, .other = "n05"}},
      kNow);
  const auto after = all_pairs(fabric);

  std::vector<std::string> slowed;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (after[i].gbit < before[i].gbit * 0.5)
      slowed.push_back(after[i].name);
    else
      EXPECT_EQ(after[i].gbit, before[i].gbit) << after[i].name;
  EXPECT_THAT(slowed, ElementsAre("n02/mlx5_3 to n05/mlx5_3", "n05/mlx5_3 to n02/mlx5_3"));

  fabric.set_faults("n02", {}, kNow);
  EXPECT_EQ(fabric.gbit_between("n02", "mlx5_3", "n05", "mlx5_3", kNow),
            nine_nodes().gbit_between("n02", "mlx5_3", "n05", "mlx5_3", kNow));
}

TEST(FabricTest, AdaptiveRoutingSpreadsTheLossOfAnUplinkOverAllFlows) {
  auto plan = nine_nodes().plan();
  plan.adaptive = true;
  Fabric fabric{plan, 1};
  for (int i = 0; i < kNodes; ++i) fabric.set_power(node_name(i), true, VirtualTime{0});
  fabric.set_faults(
      "n00", {{.kind = FaultKind::uplink_slow, .part = "mlx5_0", .amount = 0, .number = 1}}, kNow);

  for (const auto* to : {"n04", "n05", "n06", "n07"})
    EXPECT_NEAR(fabric.gbit_between("n00", "mlx5_0", to, "mlx5_0", kNow), 300, 2) << to;
}

TEST(FabricTest, AnHcaThatIsBlockedIsUpAndCarriesNothing) {
  auto fabric = nine_nodes();
  fabric.set_faults("n02", {{.kind = FaultKind::hca_blocked, .part = "mlx5_3"}}, kNow);

  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->state, PortState::active);
  EXPECT_EQ(fabric.gbit_between("n02", "mlx5_3", "n00", "mlx5_3", kNow), 0);
}

TEST(FabricTest, CrossedCablesShowEachOthersPortsOnBothNodes) {
  auto fabric = nine_nodes();
  fabric.set_faults("n02", {{.kind = FaultKind::cables_crossed, .part = "mlx5_3", .other = "n05"}},
                    kNow);

  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->peer, "leaf2-r4");
  EXPECT_EQ(fabric.port("n05", "mlx5_3", kNow)->peer, "leaf1-r4");
  EXPECT_EQ(fabric.port("n05", "mlx5_3", kNow)->peer_port, 3);
}

TEST(FabricTest, ADiscoverySeesEverySwitchAndEachLinkFromBothItsEnds) {
  const auto fabric = nine_nodes();

  const auto seen = fabric.discover("n00", "mlx5_0");

  ASSERT_EQ(seen.size(), 3u * kRails + 4);
  std::size_t hcas = 0, up = 0;
  for (const auto& one : seen)
    for (const auto& link : one.links) (link.to_switch ? up : hcas) += 1;
  EXPECT_EQ(hcas, kNodes * kRails);
  EXPECT_EQ(up, 2u * 3 * kRails * 4);
}

TEST(FabricTest, OneRailOfOneGroupNeverLeavesItsLeaf) {
  const auto fabric = nine_nodes();

  EXPECT_THAT(fabric.path("n00", "mlx5_4", "n03", "mlx5_4"),
              ElementsAre("n00/mlx5_4", "n03/mlx5_4"));
  EXPECT_THAT(fabric.path("n00", "mlx5_4", "n04", "mlx5_4"),
              ElementsAre("n00/mlx5_4", HasSubstr("leaf1-r5/spine"), HasSubstr("leaf2-r5/spine"),
                          "n04/mlx5_4"));
  EXPECT_EQ(fabric.path("n00", "mlx5_4", "n03", "mlx5_5").size(), 4);
}

TEST(FabricTest, WhoeverSendsToAPortGoesOverTheSameSpine) {
  const auto fabric = nine_nodes();
  std::set<std::string> used;
  for (int to = 0; to < kRails; ++to) {
    std::set<std::string> spines;
    for (int from = 0; from < 4; ++from) {
      const auto links = fabric.path(node_name(from), "mlx5_0", node_name(4 + to % 4), rail(to));
      ASSERT_EQ(links.size(), 4);
      spines.insert(links[1].substr(links[1].find('/')));
      EXPECT_EQ(links[1].substr(links[1].find('/')), links[2].substr(links[2].find('/')));
    }
    EXPECT_EQ(spines.size(), 1) << to;
    used.insert(*spines.begin());
  }
  EXPECT_EQ(used.size(), 4) << "all spines are used";
}

TEST(FabricTest, SwappedCablesShowEachOthersLeaf) {
  auto fabric = nine_nodes();
  fabric.set_faults(
      "n02", {{.kind = FaultKind::cables_swapped, .part = "mlx5_3", .other = "mlx5_6"}}, kNow);

  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->peer, "leaf1-r7");
  EXPECT_EQ(fabric.port("n02", "mlx5_6", kNow)->peer, "leaf1-r4");
  EXPECT_THAT(fabric.port("n02", "mlx5_3", kNow)->cable, HasSubstr("leaf1-r4"));
  EXPECT_EQ(fabric.path("n00", "mlx5_3", "n02", "mlx5_3").size(), 4);
  EXPECT_EQ(fabric.path("n00", "mlx5_3", "n02", "mlx5_6").size(), 2);
}

TEST(FabricTest, APlugInAnUplinksPortShowsAtBothEndsAndSlowsNothing) {
  auto fabric = nine_nodes();
  const auto before = fabric.discover("n00", "mlx5_2");
  fabric.set_faults("n01", {{.kind = FaultKind::uplink_exchanged, .part = "mlx5_2", .number = 1}},
                    kNow);
  const auto after = fabric.discover("n00", "mlx5_2");
  const auto link_of = [](const std::vector<SeenSwitch>& seen, std::string_view leaf, int port) {
    const auto found = std::ranges::find(seen, leaf, &SeenSwitch::name);
    const auto link = std::ranges::find(found->links, port, &SeenSwitch::Link::port);
    return std::pair{link->name, link->far_port};
  };

  // Four nodes' ports, then the uplinks'.
  EXPECT_EQ(link_of(after, "leaf1-r3", 2), link_of(before, "leaf1-r3", 6));
  EXPECT_EQ(link_of(after, "leaf1-r3", 6), link_of(before, "leaf1-r3", 2));
  const auto [spine, port] = link_of(before, "leaf1-r3", 6);
  EXPECT_EQ(link_of(before, spine, port), std::pair(std::string{"leaf1-r3"}, 6));
  EXPECT_EQ(link_of(after, spine, port), std::pair(std::string{"leaf1-r3"}, 2));
  EXPECT_EQ(fabric.port("n01", "mlx5_2", kNow)->peer_port, 6);
  EXPECT_GT(fabric.gbit_between("n01", "mlx5_2", "n05", "mlx5_2", kNow), 390);
}

TEST(FabricTest, AWrongRailIsAnotherLeafAndACostlyPath) {
  auto fabric = nine_nodes();
  fabric.set_faults("n02", {{.kind = FaultKind::wrong_rail, .part = "mlx5_3"}}, kNow);

  EXPECT_EQ(fabric.port("n02", "mlx5_3", kNow)->peer, "leaf1-r5");
  EXPECT_EQ(fabric.port("n02", "mlx5_4", kNow)->peer, "leaf1-r5");
  EXPECT_NE(fabric.port("n02", "mlx5_3", kNow)->peer_port,
            fabric.port("n02", "mlx5_4", kNow)->peer_port);
  EXPECT_EQ(fabric.path("n00", "mlx5_3", "n02", "mlx5_3").size(), 4);
}

TEST(FabricTest, AFlappingLinkCountsEachTimeThatItWentDown) {
  auto fabric = nine_nodes();
  const Fault flap{.kind = FaultKind::hca_flapping, .part = "mlx5_0"};
  for (int i = 0; i < 3; ++i) {
    fabric.set_faults("n00", {flap}, VirtualTime{i * 60.0});
    const auto down = *fabric.port("n00", "mlx5_0", VirtualTime{i * 60.0 + 1});
    EXPECT_EQ(down.state, PortState::down);
    EXPECT_EQ(down.physical, PhysicalState::polling);
    EXPECT_THAT(fabric.path("n00", "mlx5_0", "n01", "mlx5_0"), IsEmpty());
    fabric.set_faults("n00", {}, VirtualTime{i * 60.0 + 20});
  }

  const auto up = *fabric.port("n00", "mlx5_0", VirtualTime{300});
  EXPECT_EQ(up.state, PortState::active);
  EXPECT_EQ(up.counters.link_downed, 3);
  EXPECT_EQ(fabric.port("n00", "mlx5_1", VirtualTime{300})->counters.link_downed, 0);
}

TEST(FabricTest, SymbolErrorsComeByTheHourAndTheSameToWhoeverAsks) {
  auto fabric = nine_nodes(), other = nine_nodes();
  const Fault fault{.kind = FaultKind::hca_errors, .part = "mlx5_1", .errors = 7200};
  for (auto* each : {&fabric, &other}) each->set_faults("n04", {fault}, VirtualTime{0});

  for (double s = 1; s < 3600; s += 17) (void)other.port("n04", "mlx5_1", VirtualTime{s});
  const auto after = fabric.port("n04", "mlx5_1", VirtualTime{3600})->counters;
  EXPECT_NEAR(static_cast<double>(after.symbol_errors), 7200, 5 * std::sqrt(7200));
  EXPECT_EQ(after, other.port("n04", "mlx5_1", VirtualTime{3600})->counters);
  EXPECT_EQ(fabric.port("n04", "mlx5_0", VirtualTime{3600})->counters, PortCounters{});
}

TEST(FabricTest, ACableThatLosesPacketsCountsThemWhereStreamsCrossItAndKeepsItsRate) {
  auto fabric = nine_nodes();
  const Fault fault{.kind = FaultKind::cable_loses_packets, .part = "mlx5_1", .errors = 600};
  fabric.set_faults("n04", {fault}, kNow);
  const auto counted = [&](std::string_view node, std::string_view adapter) {
    return fabric.port(node, adapter, kNow)->counters;
  };

  fabric.stream("n04", "mlx5_1", "n05", "mlx5_1", VirtualTime{60});
  fabric.stream("n05", "mlx5_1", "n06", "mlx5_1", VirtualTime{60});
  fabric.stream("n04", "mlx5_0", "n05", "mlx5_0", VirtualTime{60});

  EXPECT_NEAR(static_cast<double>(counted("n04", "mlx5_1").sequence_naks), 600, 150);
  EXPECT_EQ(counted("n05", "mlx5_1").out_of_order, counted("n04", "mlx5_1").sequence_naks);
  EXPECT_EQ(counted("n05", "mlx5_1").sequence_naks, 0);
  EXPECT_EQ(counted("n04", "mlx5_0"), PortCounters{});
  EXPECT_GT(fabric.gbit_between("n04", "mlx5_1", "n05", "mlx5_1", kNow), 390);
  fabric.stream("n06", "mlx5_1", "n04", "mlx5_1", VirtualTime{60});
  EXPECT_GT(counted("n06", "mlx5_1").sequence_naks, 400);
}

TEST(FabricTest, PortsOfSwitchesOnTheWayCountWhatAFlowSends) {
  auto fabric = nine_nodes();
  const auto route = fabric.path("n00", "mlx5_0", "n05", "mlx5_0");
  ASSERT_EQ(route.size(), 4u) << "across leaves";
  const auto lid = fabric.port("n00", "mlx5_0", kNow)->peer_lid;
  const auto far_lid = fabric.port("n05", "mlx5_0", kNow)->peer_lid;
  constexpr int kMostPorts = 64;
  // Ports that have sent, and ports that have received.
  const auto counted = [&](std::uint16_t at) {
    std::pair<int, int> ports;
    for (int port = 1; port <= kMostPorts; ++port) {
      const auto seen = fabric.switch_port("n00", "mlx5_0", at, port).value_or(SwitchPort{});
      if (seen.sent > 0) EXPECT_EQ(seen.sent, 1'000u);
      if (seen.received > 0) EXPECT_EQ(seen.received, 1'000u);
      ports.first += seen.sent > 0 ? 1 : 0;
      ports.second += seen.received > 0 ? 1 : 0;
    }
    return ports;
  };
  EXPECT_EQ(counted(lid), std::pair(0, 0));

  fabric.carry("n00", "mlx5_0", "n05", "mlx5_0", 4'000);

  EXPECT_EQ(counted(lid), std::pair(1, 1)) << "from the node, to one uplink";
  EXPECT_EQ(counted(far_lid), std::pair(1, 1)) << "from one uplink, to the node";
  EXPECT_EQ(fabric.switch_port("n00", "mlx5_0", lid, 10'000), std::nullopt);
  EXPECT_EQ(fabric.switch_port("n00", "mlx5_0", 60'000, 1), std::nullopt);
}

TEST(FabricTest, AMachineThatIsOffHasNoLinkAndNoPathLeadsToIt) {
  auto fabric = nine_nodes();
  fabric.set_power("n03", false, kNow);

  EXPECT_EQ(fabric.port("n03", "mlx5_0", kNow)->state, PortState::down);
  EXPECT_EQ(fabric.gbit_between("n00", "mlx5_0", "n03", "mlx5_0", kNow), 0);
  EXPECT_EQ(fabric.port("n03", "mlx5_0", kNow)->counters.link_downed, 0);
  EXPECT_EQ(fabric.port("n00", "mlx5_99", kNow), std::nullopt);
}

TEST(FabricTest, HealthyLinksDifferByLessThanAPerCent) {
  const auto fabric = nine_nodes();

  std::set<double> rates;
  for (const auto& pair : all_pairs(fabric)) {
    EXPECT_GE(pair.gbit, 400 * 0.99) << pair.name;
    EXPECT_LE(pair.gbit, 400) << pair.name;
    rates.insert(pair.gbit);
  }
  EXPECT_GT(rates.size(), 20);
}

TEST(FabricTest, EveryPortHasAnAddressOfItsOwn) {
  const auto fabric = nine_nodes();

  std::set<int> lids;
  std::set<std::string> ends, cables;
  for (int i = 0; i < kNodes; ++i)
    for (int k = 0; k < kRails; ++k) {
      const auto port = *fabric.port(node_name(i), rail(k), kNow);
      lids.insert(port.lid);
      lids.insert(port.peer_lid);
      ends.insert(fmt::format("{} {}", port.peer_guid, port.peer_port));
      cables.insert(port.cable);
    }
  const int leaves = 3 * kRails;
  EXPECT_EQ(lids.size(), kNodes * kRails + leaves);
  EXPECT_EQ(ends.size(), kNodes * kRails);
  EXPECT_EQ(cables.size(), kNodes * kRails);
}

}  // namespace
}  // namespace cupel::rehearsal
