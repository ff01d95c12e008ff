// Pairs over a simulated fabric: which part is named, with how few rounds, and what is left open.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "burnin/fabric/reasons.h"
#include "tests/support/simulated_pairs.h"

namespace cupel::burnin::fabric {
namespace {

using test::SimulatedFabric;
using test::SlowParts;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Plants what is given, or so many parts at random, and measures to the end.
struct Measured {
  explicit Measured(const SimulatedFabric& fabric, std::uint64_t seed = 1)
      : screen{fabric.wiring(), {}}, parts{screen.topology(), fabric, seed} {}

  void slow(const Part& part, double share = 0.6) { parts.slow(screen.topology().id(part), share); }
  Culprits run() {
    while (!screen.next_flows().empty()) {
      std::vector<double> readings;
      for (const auto& flow : screen.next_flows()) readings.push_back(parts.read(flow));
      screen.take(readings);
    }
    return screen.culprits();
  }
  std::vector<Part> named(const Culprits& culprits) const {
    std::vector<Part> all;
    for (const auto& each : culprits.named)
      all.push_back(screen.topology().part(each.parts.front()));
    return all;
  }

  PairScreen screen;
  SlowParts parts;
};

TEST(FabricPairs, NamesEachKindOfPartByItself) {
  const Part kinds[] = {{PartKind::node, Way::both, 77, 0},   {PartKind::access, Way::both, 33, 5},
                        {PartKind::access, Way::out, 33, 5},  {PartKind::access, Way::in, 0, 0},
                        {PartKind::uplink, Way::both, 9, 31}, {PartKind::leaf, Way::both, 12, 0},
                        {PartKind::spine, Way::both, 2, 0}};
  for (const auto& part : kinds) {
    Measured fabric{{.nodes = 128}};
    fabric.slow(part);

    const auto found = fabric.run();

    EXPECT_THAT(fabric.named(found), ElementsAre(part));
    EXPECT_THAT(found.open, IsEmpty());
    EXPECT_LE(fabric.screen.rounds(), 5);
    EXPECT_NEAR(found.named.front().level, 0.6, 0.03);
  }
}

/// Of a thousand such runs culprits_bench makes the table of docs/decisions/fabric-culprits.md.
TEST(FabricPairs, NamesFiveAtOnceAndNoHealthyPart) {
  int planted = 0, exact = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Measured fabric{{.nodes = 232}, seed};
    fabric.parts.plant(5, 0.4, 0.9);

    const auto found = fabric.run();

    planted += 5;
    for (const auto& each : found.named) {
      const auto whole = fabric.screen.topology().whole(each.parts.front());
      EXPECT_THAT(fabric.parts.bad(), Contains(whole)) << "seed " << seed;
      ++exact;
    }
    EXPECT_LE(fabric.screen.rounds(), 6);
  }
  EXPECT_GE(exact, planted * 98 / 100);
}

TEST(FabricPairs, NamesAPartThatIsMildlySlowInNoiseByMeasuringItAgain) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Measured fabric{{.nodes = 128, .noise = 0.015}, seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.slow(part, 0.95);

    EXPECT_THAT(fabric.named(fabric.run()), ElementsAre(part)) << "seed " << seed;
  }
}

TEST(FabricPairs, AccusesNoPartOfAFleetWithUnequalLinks) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Measured fabric{{.nodes = 128, .noise = 0.01, .dips = 0.03, .spread = 0.005}, seed};

    EXPECT_THAT(fabric.run().named, IsEmpty()) << "seed " << seed;
  }
}

TEST(FabricPairs, SaysThatAnUplinkAndItsTwinLookAlikeAndWhichSwapDecides) {
  Measured fabric{{.nodes = 64}};
  const Part uplink{PartKind::uplink, Way::both, 9, 31};
  fabric.slow(uplink);

  const auto found = fabric.run();

  EXPECT_THAT(found.named, IsEmpty());
  ASSERT_THAT(found.open, SizeIs(1));
  EXPECT_THAT(found.open.front().parts,
              ElementsAre(fabric.screen.topology().id({PartKind::uplink, Way::both, 1, 31}),
                          fabric.screen.topology().id(uplink)));
  const auto lines = reasons(fabric.screen, found, {});
  EXPECT_THAT(lines, Contains(HasSubstr("cannot be distinguished from here: uplink leaf2")));
  EXPECT_THAT(lines, Contains(HasSubstr("decides: exchange, at the spines, the cable of uplink")));
}

TEST(FabricPairs, FindsALinkBehindANodeThatIsLessSlow) {
  Measured fabric{{.nodes = 128}};
  const Part node{PartKind::node, Way::both, 40, 0}, link{PartKind::access, Way::both, 40, 2};
  fabric.slow(node, 0.85);
  fabric.slow(link, 0.5);

  EXPECT_THAT(fabric.named(fabric.run()), ::testing::UnorderedElementsAre(node, link));
}

TEST(FabricPairs, NamesNoUplinkWhereRoutingIsAdaptiveAndSaysSo) {
  auto wiring = SimulatedFabric{.nodes = 96}.wiring();
  wiring.routing = Routing::adaptive;
  PairScreen screen{wiring, {}};
  Culprits found;
  const SimulatedFabric even{.nodes = 96};
  SlowParts none{screen.topology(), even, 1};
  while (!screen.next_flows().empty()) {
    std::vector<double> readings;
    for (const auto& flow : screen.next_flows())  // a bad uplink: every flow a little
      readings.push_back(none.read(flow) * (screen.topology().across(flow) ? 31.5 / 32 : 1));
    screen.take(readings);
  }
  found = screen.culprits();

  EXPECT_THAT(found.named, IsEmpty());
  EXPECT_THAT(reasons(screen, found, {}), Contains(HasSubstr("routing is adaptive")));
}

TEST(FabricPairs, BlamesNoPartWhereTheWholeFleetIsBelowTheFloor) {
  const SimulatedFabric fabric{.nodes = 64};
  PairScreen screen{fabric.wiring(), {.floor = 0.9}};
  SlowParts none{screen.topology(), fabric, 1};
  while (!screen.next_flows().empty()) {
    std::vector<double> readings;
    for (const auto& flow : screen.next_flows()) readings.push_back(0.7 * none.read(flow));
    screen.take(readings);
  }

  EXPECT_TRUE(screen.below_floor(false));
  EXPECT_THAT(screen.culprits().named, IsEmpty());
  EXPECT_THAT(reasons(screen, screen.culprits(), {}),
              Contains(HasSubstr("the fleet itself is below its limit")));
}

TEST(FabricPairs, MeasuresSlowFlowsThatNoPartExplainsOnceMore) {
  auto wiring = SimulatedFabric{.nodes = 96}.wiring();
  wiring.routing = Routing::unknown;
  const SimulatedFabric even{.nodes = 96, .dips = 0};
  for (const bool dips_alone : {true, false}) {
    PairScreen screen{wiring, {}};
    SlowParts none{screen.topology(), even, 1};
    int of_the_flow = 0;
    while (!screen.next_flows().empty()) {
      std::vector<double> readings;
      for (const auto& flow : screen.next_flows()) {
        const bool slow = flow.from == 3 && flow.to == 35 && flow.rail == 2;
        const bool dips = slow && (!dips_alone || of_the_flow++ < 2);
        readings.push_back(none.read(flow) * (dips ? 0.5 : 1));
      }
      screen.take(readings);
    }
    const auto found = screen.culprits();

    EXPECT_THAT(found.named, IsEmpty());
    EXPECT_THAT(found.open, IsEmpty());
    EXPECT_EQ(screen.rounds(), 5);
    ASSERT_THAT(found.unexplained, SizeIs(dips_alone ? 0 : 1));
    if (!dips_alone) EXPECT_EQ(screen.readings().flow(found.unexplained.front()), (Flow{3, 35, 2}));
  }
}

TEST(FabricPairs, LeavesNoFlowOfAHealthyFleetUnexplained) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Measured noisy{{.nodes = 232, .noise = 0.015}, seed};
    Measured dipping{{.nodes = 232, .dips = 0.01}, seed};

    EXPECT_THAT(noisy.run().unexplained, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(dipping.run().unexplained, IsEmpty()) << "seed " << seed;
  }
}

TEST(FabricPairs, GoesOnWithoutANodeThatLeaves) {
  const SimulatedFabric fabric{.nodes = 96};
  PairScreen screen{fabric.wiring(), {}};
  SlowParts parts{screen.topology(), fabric, 1};
  const auto bad = screen.topology().id({PartKind::access, Way::both, 50, 1});
  parts.slow(bad, 0.6);
  constexpr int kGone = 49;
  while (!screen.next_flows().empty()) {
    std::vector<double> readings;
    for (const auto& flow : screen.next_flows())
      readings.push_back(flow.from == kGone || flow.to == kGone ? std::nan("") : parts.read(flow));
    screen.leave(kGone);
    screen.take(readings);
    for (const auto& flow : screen.next_flows())
      EXPECT_TRUE(flow.from != kGone && flow.to != kGone);
  }

  const auto found = screen.culprits();

  ASSERT_THAT(found.named, SizeIs(1));
  EXPECT_THAT(found.named.front().parts, ElementsAre(bad));
}

TEST(FabricPairs, MeetNoPartnerTwiceInsideALeafAndLoadEachUplinkOnceEachWay) {
  const Topology topology{SimulatedFabric{.nodes = 128}.wiring()};

  const auto rounds = fixed_rounds(topology);

  ASSERT_THAT(rounds, SizeIs(4));
  std::set<std::pair<int, int>> met;
  for (const auto& round : rounds) {
    EXPECT_THAT(round, SizeIs(64)) << "no node rests";
    std::set<int> busy;
    std::map<PartId, int> load;
    for (const auto& pair : round) {
      EXPECT_TRUE(busy.insert(pair.one).second && busy.insert(pair.other).second);
      EXPECT_TRUE(met.insert(std::minmax(pair.one, pair.other)).second);
      std::vector<Flow> flows;
      add_flows(topology, pair, flows);
      for (const auto& flow : flows) {
        std::vector<PartId> parts;
        topology.add_parts(flow, parts);
        for (const auto part : parts)
          if (topology.part(part).way != Way::both) ++load[part];
      }
    }
    for (const auto& [part, streams] : load) EXPECT_EQ(streams, 1);
  }
}

TEST(FabricPairs, NeverPutTwoStreamsOnOneUplinkWhereThereAreFewerThanNodes) {
  auto wiring = SimulatedFabric{.nodes = 64}.wiring();
  wiring.uplinks = 16;
  wiring.spine_of_uplink.assign(static_cast<std::size_t>(wiring.leaves) * 16, 0);
  const Topology topology{wiring};

  EXPECT_THAT(fixed_rounds(topology), SizeIs(2 + 2 * 2));
}

TEST(FabricPairs, OfTwoNodesHaveALimitByTheFloorAlone) {
  const SimulatedFabric fabric{.nodes = 2, .rails = 1, .dips = 0};
  PairScreen screen{fabric.wiring(), {.floor = 0.9}};
  SlowParts parts{screen.topology(), fabric, 1};
  parts.slow(screen.topology().id({PartKind::leaf, Way::both, 0, 0}), 0.5);
  while (!screen.next_flows().empty()) {
    std::vector<double> readings;
    for (const auto& flow : screen.next_flows()) readings.push_back(parts.read(flow));
    screen.take(readings);
  }

  EXPECT_TRUE(screen.below_floor(false));
  EXPECT_THAT(screen.culprits().named, IsEmpty());
}

}  // namespace
}  // namespace cupel::burnin::fabric
