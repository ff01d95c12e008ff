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
    int readings = 0;
    while (!screen.next_flows().empty()) {
      screen.take(parts.read_all(screen.next_flows()));
      ++readings;
    }
    EXPECT_LE(readings, most_readings({}));
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
    EXPECT_LE(fabric.screen.rounds(), 4 + 3) << "four fixed; at most three for parts that dip";
    EXPECT_NEAR(found.named.front().level, 0.6, 0.03);
  }
}

/// What one part loses comes on top of what the other does: no third one explains the flows of
/// both.
TEST(FabricPairs, NamesNoThirdPartWhereTwoSlowPartsMeetOnAFlow) {
  for (const bool compounds : {false, true}) {
    Measured fabric{{.nodes = 12, .group = 4, .compounds = compounds}};
    const Part node{PartKind::node, Way::both, 8, 0}, link{PartKind::access, Way::both, 4, 3};
    fabric.slow(node, 0.6);
    fabric.slow(link, 0.2);

    const auto found = fabric.run();

    EXPECT_THAT(fabric.named(found), ::testing::UnorderedElementsAre(node, link));
    EXPECT_THAT(found.open, IsEmpty());
    EXPECT_THAT(found.unexplained, IsEmpty());
  }
}

/// In a rack of twelve few pairs cross an uplink: they are sought until what they say suffices.
TEST(FabricPairs, NamesEachUplinkOfASmallRackInEachDirection) {
  int named = 0;
  for (const auto way : {Way::both, Way::out, Way::in})
    for (int uplink = 0; uplink < 4; ++uplink) {
      Measured fabric{{.nodes = 12, .group = 4}};
      const Part part{PartKind::uplink, way, 0, uplink};
      fabric.slow(part, 0.5);

      const auto found = fabric.run();

      named += static_cast<int>(found.named.size());
      EXPECT_THAT(found.open, IsEmpty()) << "uplink " << uplink << " way " << static_cast<int>(way);
      for (const auto& each : fabric.named(found)) EXPECT_EQ(each, part);
    }
  EXPECT_GE(named, 9);
}

/// Of a thousand such runs culprits_bench makes the table of
/// docs/build/decisions/fabric-culprits.md.
void names_five_at_once(int first, int last) {
  int planted = 0, exact = 0, rounds = 0;
  for (int seed = first; seed <= last; ++seed) {
    Measured fabric{{.nodes = 232}, static_cast<std::uint64_t>(seed)};
    fabric.parts.plant(5, 0.4, 0.9);

    const auto found = fabric.run();

    planted += 5;
    for (const auto& each : found.named) {
      const auto whole = fabric.screen.topology().whole(each.parts.front());
      EXPECT_THAT(fabric.parts.bad(), Contains(whole)) << "seed " << seed;
      ++exact;
    }
    EXPECT_LE(fabric.screen.rounds(), 4 + most_rounds_beyond({}));
    rounds += fabric.screen.rounds();
  }
  EXPECT_LE(rounds, (last - first + 1) * 7) << "on average";
  EXPECT_GE(exact, planted * 98 / 100);
}

TEST(FabricPairs, NamesFiveAtOnceAndNoHealthyPart) { names_five_at_once(1, 4); }

TEST(LongFabricPairs, NamesFiveAtOnceAndNoHealthyPart) { names_five_at_once(1, 20); }

TEST(FabricPairs, NamesAPartThatIsMildlySlowInNoiseByMeasuringItAgain) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Measured fabric{{.nodes = 128, .noise = 0.015}, seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.slow(part, 0.94);

    EXPECT_THAT(fabric.named(fabric.run()), ElementsAre(part)) << "seed " << seed;
  }
}

/// At 95 % eight of ten are named. The others cannot be distinguished from the slowest of a
/// thousand links that differ by as much as noise may hide.
TEST(FabricPairs, LetsNoPartPassThatIsSlowByFivePercentInNoise) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Measured fabric{{.nodes = 128, .noise = 0.015}, seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.slow(part, 0.95);

    const auto found = fabric.run();

    ASSERT_EQ(found.named.size() + found.open.size(), 1u) << "seed " << seed;
    const auto& only = found.named.empty() ? found.open.front() : found.named.front();
    EXPECT_THAT(only.parts, Contains(fabric.screen.topology().id(part))) << "seed " << seed;
  }
}

/// Noise may hide links that differ for good, the slowest of a thousand of them by seven times as
/// much as they do on average.
TEST(FabricPairs, NamesNoHealthyPartWhereNoiseHidesHowLinksDiffer) {
  for (const double ratio : {0.2, 0.3})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      constexpr double kNoise = 0.015;
      Measured fabric{{.nodes = 128,
                       .noise = kNoise,
                       .spread = ratio * kNoise,
                       .shape = SimulatedFabric::Spread::exponential},
                      seed};

      EXPECT_THAT(fabric.run().named, IsEmpty()) << ratio << " of the noise, seed " << seed;
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
  const auto lines =
      reasons(fabric.screen, found, whole_fabric(fabric.screen.readings(), found), {});
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
  EXPECT_THAT(reasons(screen, found, whole_fabric(screen.readings(), found), {}),
              Contains(HasSubstr("routing is adaptive")));
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
  EXPECT_THAT(reasons(screen, screen.culprits(), {}, {}),
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

void leaves_no_flow_unexplained(std::uint64_t first, std::uint64_t last) {
  for (auto seed = first; seed <= last; ++seed) {
    Measured noisy{{.nodes = 232, .noise = 0.015}, seed};
    Measured dipping{{.nodes = 232, .dips = 0.01}, seed};

    EXPECT_THAT(noisy.run().unexplained, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(dipping.run().unexplained, IsEmpty()) << "seed " << seed;
  }
}

TEST(FabricPairs, LeavesNoFlowOfAHealthyFleetUnexplained) { leaves_no_flow_unexplained(1, 3); }

TEST(LongFabricPairs, LeavesNoFlowOfAHealthyFleetUnexplained) { leaves_no_flow_unexplained(4, 10); }

/// A part of a leaf's own fabric is named by flows inside it; what only flows across show is none.
TEST(FabricPairs, NamesNoNodeForASlowSpineWhereRoutingIsNotKnown) {
  for (const double noise : {0.006, 0.01, 0.02, 0.03})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Measured fabric{{.nodes = 128,
                       .noise = noise,
                       .routes = SimulatedFabric::Routes::shifted,
                       .has_tables = false,
                       .reported = Routing::unknown},
                      seed};
      fabric.slow({PartKind::spine, Way::both, 1, 0}, 0.85);

      const auto found = fabric.run();

      EXPECT_THAT(found.named, IsEmpty()) << "noise " << noise << ", seed " << seed;
      EXPECT_THAT(found.unexplained, SizeIs(::testing::Ge(100u)));
      const auto whole = whole_fabric(fabric.screen.readings(), found);
      EXPECT_NEAR(whole.split, 0.25, 0.06) << "one of four spines";
      EXPECT_NEAR(whole.split_level, 0.85, 0.03);
    }
}

TEST(FabricPairs, NamesALinkByTheFlowsInsideItsLeafWhereRoutingIsNotKnown) {
  for (const auto& part :
       {Part{PartKind::access, Way::both, 33, 5}, Part{PartKind::access, Way::in, 0, 0},
        Part{PartKind::node, Way::both, 77, 0}}) {
    Measured fabric{
        {.nodes = 128, .noise = 0.015, .has_tables = false, .reported = Routing::unknown}};
    fabric.slow(part, 0.85);

    const auto found = fabric.run();

    EXPECT_THAT(fabric.named(found), ElementsAre(part));
    EXPECT_THAT(found.unexplained, IsEmpty()) << "flows across are explained by it too";
  }
}

TEST(FabricPairs, NamesNoHealthyPartWhereLinksDifferByAsMuchAsReadings) {
  using Shape = SimulatedFabric::Spread;
  for (const auto shape : {Shape::normal, Shape::lower_half, Shape::exponential, Shape::batch})
    for (const double amount : {0.01, 0.02})
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        Measured fabric{{.nodes = 232, .noise = amount, .spread = amount, .shape = shape}, seed};

        EXPECT_THAT(fabric.named(fabric.run()), IsEmpty())
            << "shape " << static_cast<int>(shape) << ", " << amount << ", seed " << seed;
      }
}

TEST(FabricPairs, StillNamesALinkThatIsApartFromLinksThatDiffer) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Measured fabric{
        {.nodes = 232, .noise = 0.01, .spread = 0.01, .shape = SimulatedFabric::Spread::normal},
        seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.slow(part, 0.8);

    EXPECT_THAT(fabric.named(fabric.run()), ElementsAre(part)) << "seed " << seed;
  }
}

TEST(FabricPairs, NamesALinkThatIsSlowInAThirdOfItsReadings) {
  int named = 0, doubted = 0;
  constexpr int kSeeds = 10;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Measured fabric{{.nodes = 128}, seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.parts.slow_now_and_then(fabric.screen.topology().id(part), 0.5, 0.3);

    const auto found = fabric.run();

    for (const auto& each : found.named) {
      EXPECT_EQ(fabric.screen.topology().whole(each.parts.front()),
                fabric.screen.topology().id(part))
          << "seed " << seed;
      EXPECT_TRUE(each.comes_and_goes());
      EXPECT_NEAR(each.level, 0.5, 0.05);
      ++named;
    }
    doubted += static_cast<int>(found.open.size());
  }
  EXPECT_GE(named, kSeeds * 7 / 10);
  EXPECT_GE(named + doubted, kSeeds * 9 / 10) << "what is not certain is no pass";
}

// Readings across leaves raise the suspicion, and name none: the link is read more often inside its
// leaf, each time with another partner, until those are enough.
TEST(FabricPairs, NamesSuchALinkWhereRoutesAreNotKnown) {
  int named = 0;
  constexpr int kSeeds = 10, kAtLeast = 9;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Measured fabric{{.nodes = 128,
                     .routes = SimulatedFabric::Routes::shifted,
                     .has_tables = false,
                     .reported = Routing::unknown},
                    seed};
    const Part part{PartKind::access, Way::both, 33, 5};
    fabric.parts.slow_now_and_then(fabric.screen.topology().id(part), 0.5, 0.3);

    for (const auto& each : fabric.run().named) {
      EXPECT_EQ(fabric.screen.topology().whole(each.parts.front()),
                fabric.screen.topology().id(part))
          << "seed " << seed;
      ++named;
    }
  }
  EXPECT_GE(named, kAtLeast);
}

// Of eight nodes its own dips are half of all: what is usual is what the others have.
TEST(FabricPairs, NamesSuchALinkOfEightNodes) {
  int named = 0;
  constexpr int kSeeds = 20, kAtLeast = 16;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Measured fabric{{.nodes = 8}, seed};
    const Part part{PartKind::access, Way::both, 5, 5};
    fabric.parts.slow_now_and_then(fabric.screen.topology().id(part), 0.5, 0.3);

    for (const auto& each : fabric.run().named)
      named +=
          fabric.screen.topology().whole(each.parts.front()) == fabric.screen.topology().id(part)
              ? 1
              : 0;
  }
  EXPECT_GE(named, kAtLeast);
}

// Hashes that collide slow all flows across, those of a slow leaf no more than others: that they
// are as fast as their like says nothing of the leaf.
TEST(FabricPairs, BlamesNoLinkForASlowLeafWhoseFlowsCollideElsewhere) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Measured fabric{{.nodes = 232,
                     .noise = 0.02,
                     .dips = 0.03,
                     .spread = 0.005,
                     .routes = SimulatedFabric::Routes::hashed,
                     .has_tables = false,
                     .reported = Routing::ecmp,
                     .shape = SimulatedFabric::Spread::exponential,
                     .connections = 16},
                    seed};
    fabric.slow({PartKind::leaf, Way::both, 5, 0}, 0.87);

    for (const auto& part : fabric.named(fabric.run()))
      EXPECT_EQ(part.kind, PartKind::leaf) << "seed " << seed;
  }
}

TEST(FabricPairs, NamesNoLinkWhereReadingsDipOften) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Measured fabric{{.nodes = 128, .dips = 0.03, .dips_again = 0.4}, seed};

    const auto found = fabric.run();

    EXPECT_THAT(found.named, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(found.open, IsEmpty()) << "seed " << seed;
  }
}

TEST(FabricPairs, NamesTheUplinkThatTheTablesSayWhateverTheRoutingIs) {
  using Routes = SimulatedFabric::Routes;
  for (const auto routes : {Routes::place, Routes::shifted, Routes::ftree, Routes::lid}) {
    Measured fabric{{.nodes = 128, .routes = routes}};
    const Part uplink{PartKind::uplink, Way::both, 9, 11};
    fabric.slow(uplink, 0.7);

    EXPECT_THAT(fabric.named(fabric.run()), ElementsAre(uplink)) << static_cast<int>(routes);
  }
}

TEST(FabricPairs, NamesAGroupOfUplinksAndNoSingleOneWithoutTables) {
  Measured fabric{{.nodes = 128, .routes = SimulatedFabric::Routes::ftree, .has_tables = false}};
  fabric.slow({PartKind::uplink, Way::both, 9, 11}, 0.7);

  const auto found = fabric.run();
  const auto whole = whole_fabric(fabric.screen.readings(), found);

  EXPECT_THAT(found.named, IsEmpty());
  EXPECT_THAT(found.open, IsEmpty());
  ASSERT_THAT(whole.groups, SizeIs(1));
  EXPECT_THAT(whole.groups.front().leaves, ElementsAre(9));
  EXPECT_NEAR(whole.groups.front().level, 0.7, 0.03);
  EXPECT_THAT(reasons(fabric.screen, found, whole, {}),
              ::testing::AllOf(Contains(HasSubstr("an uplink of leaf10: 4 slow flows")),
                               Contains(HasSubstr("the forwarding tables are not known"))));
}

TEST(FabricPairs, SaysThatAcrossLeavesIsSlowerWhereAllUplinksAre) {
  for (const auto reported : {Routing::unknown, Routing::by_destination}) {
    Measured fabric{
        {.nodes = 64, .has_tables = reported == Routing::by_destination, .reported = reported}};
    fabric.parts.slow_uplinks(0.83);

    const auto found = fabric.run();
    const auto whole = whole_fabric(fabric.screen.readings(), found);

    EXPECT_THAT(found.named, IsEmpty());
    EXPECT_NEAR(whole.loss, 0.17, 0.01);
    EXPECT_THAT(reasons(fabric.screen, found, whole, {}),
                Contains(HasSubstr("across leaves is 17 % slower than inside leaves")));
  }
}

TEST(FabricPairs, SaysThatAcrossLeavesIsSplitWhereSomeSpinesAreSlow) {
  for (const double noise : {0.006, 0.02, 0.03})
    for (const int slow : {1, 2}) {
      Measured fabric{
          {.nodes = 64, .noise = noise, .has_tables = false, .reported = Routing::unknown}};
      for (int spine = 0; spine < slow; ++spine)
        fabric.slow({PartKind::spine, Way::both, spine, 0}, 0.85);

      const auto found = fabric.run();
      const auto whole = whole_fabric(fabric.screen.readings(), found);

      EXPECT_THAT(found.named, IsEmpty());
      EXPECT_GE(whole.split, 0.15 * slow) << noise << ", " << slow << " of four spines";
      EXPECT_NEAR(whole.split_level, 0.85, 0.04);
    }
}

TEST(FabricPairs, CallsCollisionsOfAHashByTheirName) {
  SimulatedFabric hashed{.nodes = 128,
                         .routes = SimulatedFabric::Routes::hashed,
                         .has_tables = false,
                         .reported = Routing::ecmp};
  Measured one{hashed};
  hashed.connections = 16;
  Measured several{hashed};

  const auto found = one.run();
  const auto whole = whole_fabric(one.screen.readings(), found);
  const auto spread = several.run();

  EXPECT_THAT(found.named, IsEmpty());
  EXPECT_TRUE(whole.collides);
  EXPECT_THAT(reasons(one.screen, found, whole, {}), Contains(HasSubstr("collisions: flows have")));
  EXPECT_THAT(spread.named, IsEmpty());
  EXPECT_FALSE(whole_fabric(several.screen.readings(), spread).collides);
}

TEST(FabricPairs, NamesNoNodeOfTwoThatAreSlowOnlyWithEachOther) {
  Measured fabric{{.nodes = 128, .has_tables = false, .reported = Routing::unknown}};
  fabric.parts.slow_together(3, 28, 0.6);

  const auto found = fabric.run();

  EXPECT_THAT(found.named, IsEmpty());
  std::set<int> nodes;
  for (const auto id : found.unexplained) {
    nodes.insert(fabric.screen.readings().flow(id).from);
    nodes.insert(fabric.screen.readings().flow(id).to);
  }
  if (!nodes.empty()) EXPECT_THAT(nodes, ElementsAre(3, 28));
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
  wiring.routes.clear();
  const Topology topology{wiring};

  EXPECT_THAT(fixed_rounds(topology), SizeIs(2 + 2 * 2));
}

TEST(FabricPairs, LeaveOutPairsThatWouldTakeMoreThanEightRoundsAcross) {
  auto wiring = SimulatedFabric{.nodes = 64}.wiring();
  wiring.uplinks = 2;
  wiring.spine_of_uplink.assign(static_cast<std::size_t>(wiring.leaves) * 2, 0);
  wiring.routes.clear();
  const Topology topology{wiring};

  const auto rounds = fixed_rounds(topology);

  EXPECT_THAT(rounds, SizeIs(kMostFixedRounds));
  EXPECT_EQ(pairs_left_out(topology, rounds), 2u * (32 - 8 * 2));
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
