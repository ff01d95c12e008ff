// Uplinks of slow flows, traced by the port counters of their leaves: what growth means, which part
// is named then, and the stage's scripts.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "burnin/fabric/discovery/port_counters.h"
#include "burnin/fabric/pair_traces.h"
#include "inventory/fabric_rule.h"
#include "tests/burnin/agent_order.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"
#include "tests/support/simulated_pairs.h"

namespace cupel::burnin::fabric {
namespace {

using test::SimulatedFabric;
using test::SlowParts;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Routes = SimulatedFabric::Routes;

// ---- What growth of counters means ----

/// Two leaves of four uplinks, two to each spine.
struct TwoLeaves {
  Topology topology{SimulatedFabric{.nodes = 8, .rails = 1, .group = 4, .most_spines = 2}.wiring()};
  Flow flow{0, 4, 0};

  Trace of(std::vector<double> sent, std::vector<double> received, double bytes = 100) const {
    return trace_of(topology, flow, bytes, sent, received);
  }
};

TEST(UplinkTraces, TakeTheUplinkThatGrewByAtLeastFourFifthsOfTheFlow) {
  const TwoLeaves leaves;

  const auto whole = leaves.of({1, 102, 0, 3}, {104, 0, 2, 1});
  const auto least = leaves.of({0, 80, 0, 0}, {80, 0, 0, 0});
  const auto less = leaves.of({0, 79, 0, 0}, {102, 0, 0, 0});

  EXPECT_EQ(whole, (Trace{.end = Trace::End::traced, .route = {1, 0}}));
  EXPECT_EQ(least.end, Trace::End::traced);
  EXPECT_EQ(less.end, Trace::End::unfit);
}

TEST(UplinkTraces, TakeGrowthOverAllUplinksForAdaptiveRouting) {
  const TwoLeaves leaves;

  EXPECT_EQ(leaves.of({25, 26, 24, 25}, {25, 25, 25, 25}),
            (Trace{.end = Trace::End::spread, .ports = 4}));
  EXPECT_EQ(leaves.of({50, 50, 0, 0}, {100, 0, 0, 0}).end, Trace::End::spread)
      << "on the way up alone";
}

TEST(UplinkTraces, ProveNothingWhereOtherTrafficIsAsLarge) {
  const TwoLeaves leaves;

  EXPECT_EQ(leaves.of({101, 0, 95, 0}, {101, 0, 0, 0}).end, Trace::End::crowded);
  EXPECT_EQ(leaves.of({100, 30, 30, 30}, {101, 0, 0, 0}).end, Trace::End::crowded);
}

TEST(UplinkTraces, ProveNothingWhereACounterIsMissingOrWentBackOrNothingWasSent) {
  const TwoLeaves leaves;
  const double none = std::nan("");

  EXPECT_EQ(leaves.of({101, 0, none, 0}, {101, 0, 0, 0}).end, Trace::End::unread);
  EXPECT_EQ(leaves.of({}, {}).end, Trace::End::unread);
  EXPECT_EQ(leaves.of({0, 0, 0, 0}, {0, 0, 0, 0}).end, Trace::End::unfit);
  EXPECT_EQ(leaves.of({101, 0, 0, 0}, {101, 0, 0, 0}, 0).end, Trace::End::unfit);
  EXPECT_EQ(leaves.of({101, 0, 0, 0}, {101, 0, 0, 0}, none).end, Trace::End::unfit);
}

TEST(UplinkTraces, ProveNothingWhereBothLeavesDoNotShowTheSameSpine) {
  EXPECT_EQ(TwoLeaves{}.of({101, 0, 0, 0}, {0, 0, 101, 0}).end, Trace::End::apart);
}

// ---- Who is named then ----

/// Without tables, and traced.
struct Traced {
  explicit Traced(SimulatedFabric fabric, std::uint64_t seed = 1)
      : screen{without_tables(fabric).wiring(), {}},
        parts{screen.topology(), without_tables(fabric), seed} {}

  static SimulatedFabric without_tables(SimulatedFabric fabric) {
    fabric.has_tables = false;
    fabric.reported = Routing::unknown;
    return fabric;
  }
  PartId slow(const Part& part, double share = 0.6) {
    const auto id = screen.topology().id(part);
    parts.slow(id, share);
    return id;
  }
  Culprits run() {
    while (!screen.next_flows().empty()) screen.take(parts.read_all(screen.next_flows()));
    lines = test::trace_flows(screen, parts);
    return screen.culprits();
  }

  PairScreen screen;
  SlowParts parts;
  std::vector<std::string> lines{};
};

std::vector<PartId> named(const Traced& fabric, const Culprits& found) {
  std::vector<PartId> all;
  for (const auto& each : found.named)
    all.push_back(fabric.screen.topology().whole(each.parts.front()));
  return all;
}

/// One part, or a set of at most four that has it.
bool is_narrowed(const Traced& fabric, const Culprits& found, PartId part) {
  if (named(fabric, found) == std::vector{part}) return true;
  const auto has = [&](const Suspicion& each) {
    return each.parts.size() <= 4 && std::ranges::any_of(each.parts, [&](PartId one) {
             return fabric.screen.topology().whole(one) == part;
           });
  };
  return found.named.empty() && std::ranges::any_of(found.open, has);
}

TEST(UplinkTraces, NameASlowUplinkWithoutForwardingTables) {
  int exact = 0;
  constexpr int kSeeds = 5;
  for (const auto routes : {Routes::place, Routes::ftree, Routes::shifted, Routes::lid})
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Traced fabric{{.nodes = 128, .routes = routes}, seed};
      const auto uplink = fabric.parts.any_of(PartKind::uplink);
      fabric.parts.slow(uplink, 0.7);

      const auto found = fabric.run();

      EXPECT_TRUE(is_narrowed(fabric, found, uplink))
          << static_cast<int>(routes) << ", seed " << seed;
      exact += named(fabric, found) == std::vector{uplink} ? 1 : 0;
      EXPECT_THAT(fabric.lines, Contains(HasSubstr("were traced by port counters")));
    }
  EXPECT_GE(exact, 4 * kSeeds / 2);
}

TEST(UplinkTraces, NameASlowSpineWithoutForwardingTables) {
  for (const auto routes : {Routes::ftree, Routes::shifted})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Traced fabric{{.nodes = 128, .noise = 0.015, .routes = routes}, seed};
      const auto spine = fabric.slow({PartKind::spine, Way::both, 2, 0}, 0.8);

      const auto found = fabric.run();

      EXPECT_THAT(named(fabric, found), ElementsAre(spine))
          << static_cast<int>(routes) << ", seed " << seed;
    }
}

TEST(UplinkTraces, TraceNothingOfAFleetWithoutSlowFlowsAcross) {
  Traced well{{.nodes = 128}}, link{{.nodes = 128}};
  const auto bad = link.slow({PartKind::access, Way::both, 33, 5});

  EXPECT_THAT(well.run().named, IsEmpty());
  EXPECT_THAT(named(link, link.run()), ElementsAre(bad));
  EXPECT_THAT(well.lines, IsEmpty());
  EXPECT_THAT(link.lines, IsEmpty());
}

TEST(UplinkTraces, NameNothingWhereRoutingIsAdaptiveAndSaySo) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Traced fabric{{.nodes = 128, .routes = Routes::adaptive}, seed};
    // Three pairs at equal places of two leaf groups.
    for (const int node : {3, 9, 21})
      for (const int group : {1, 2, 3}) fabric.parts.slow_together(node, group * 32 + node, 0.6);

    const auto found = fabric.run();

    EXPECT_THAT(found.named, IsEmpty()) << "seed " << seed;
    EXPECT_EQ(fabric.screen.topology().measured(), 0u);
    EXPECT_THAT(fabric.lines, Contains(HasSubstr("it goes over 32 uplinks: routing is adaptive")));
  }
}

TEST(UplinkTraces, AreNotMisledByTheTrafficOfOthers) {
  for (const double others : {0.02, 0.3, 1.0})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Traced fabric{{.nodes = 128, .routes = Routes::ftree, .other_traffic = others}, seed};
      const auto uplink = fabric.slow({PartKind::uplink, Way::both, 9, 11}, 0.7);

      const auto found = fabric.run();

      EXPECT_THAT(named(fabric, found), Each(uplink)) << others << ", seed " << seed;
      if (others < 0.04) {
        EXPECT_TRUE(is_narrowed(fabric, found, uplink)) << "seed " << seed;
      } else {
        EXPECT_THAT(fabric.lines, Contains(HasSubstr("other traffic on the uplinks is as large")));
      }
    }
}

TEST(UplinkTraces, NameNoHealthyPartWhereOneNodeReadsWrongCounters) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SimulatedFabric made{.nodes = 128, .routes = Routes::ftree};
    made.liar = 32 + 7;  // on the leaf of the slow uplink, at the place that it serves
    Traced fabric{made, seed};
    const auto uplink = fabric.slow({PartKind::uplink, Way::both, 9, 25}, 0.7);

    EXPECT_THAT(named(fabric, fabric.run()), Each(uplink)) << "seed " << seed;
  }
}

TEST(UplinkTraces, LeaveAllAsItIsWhereNoNodeMayReadCounters) {
  SimulatedFabric made{.nodes = 128, .routes = Routes::ftree};
  made.reads_counters = false;
  Traced fabric{made};
  fabric.slow({PartKind::uplink, Way::both, 9, 11}, 0.7);

  const auto found = fabric.run();

  EXPECT_THAT(found.named, IsEmpty());
  EXPECT_THAT(found.unexplained, SizeIs(::testing::Ge(2u)));
  EXPECT_THAT(whole_fabric(fabric.screen.readings(), found).groups, SizeIs(1));
  EXPECT_THAT(fabric.lines, AllOf(Contains(HasSubstr("uplinks of 0 of")),
                                  Contains(HasSubstr("counters of its leaves were not read"))));
}

TEST(UplinkTraces, NameNoUplinkForNodesThatAreSlowOnlyWithEachOther) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Traced one{{.nodes = 128}, seed}, four{{.nodes = 128}, seed};
    one.parts.slow_together(3, 35, 0.6);
    for (const int node : {3, 4, 6, 7}) four.parts.slow_together(node, node + 32, 0.6);

    EXPECT_THAT(one.run().named, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(one.lines, IsEmpty()) << "slow on all rails of one pair: no uplink";
    EXPECT_THAT(four.run().named, IsEmpty()) << "seed " << seed;
  }
}

/// Two flows that share an uplink are slow together, and each is fast alone.
TEST(UplinkTraces, AccuseNoUplinkByFlowsThatAreFastAlone) {
  Traced fabric{{.nodes = 128, .routes = Routes::ftree}};
  fabric.slow({PartKind::uplink, Way::both, 9, 11}, 0.6);
  auto& screen = fabric.screen;
  while (!screen.next_flows().empty()) screen.take(fabric.parts.read_all(screen.next_flows()));
  const auto slow = screen.culprits().unexplained.size();
  UplinkTraces traces{screen};
  while (!traces.next_flows().empty()) {
    std::vector<double> readings;
    std::vector<Trace> found;
    for (const auto& flow : traces.next_flows()) {
      readings.push_back(1);
      found.push_back(fabric.parts.trace(flow, 1));
    }
    traces.take(readings, found);
  }

  ASSERT_GE(slow, 2u);
  EXPECT_THAT(screen.culprits().named, IsEmpty());
  EXPECT_THAT(screen.culprits().unexplained, SizeIs(slow)) << "no pass either";
  EXPECT_THAT(
      traces.reasons({}),
      Contains(HasSubstr("slow flows have the usual rate alone: other flows were on their")));
}

TEST(UplinkTraces, MeetNoOtherOnTheirLeavesInARound) {
  Traced fabric{{.nodes = 128, .routes = Routes::ftree}};
  fabric.slow({PartKind::spine, Way::both, 1, 0}, 0.7);
  auto& screen = fabric.screen;
  while (!screen.next_flows().empty()) screen.take(fabric.parts.read_all(screen.next_flows()));
  UplinkTraces traces{screen};
  while (!traces.next_flows().empty()) {
    std::set<int> sending, receiving;
    std::vector<double> readings;
    std::vector<Trace> found;
    for (const auto& flow : traces.next_flows()) {
      EXPECT_TRUE(sending.insert(screen.topology().port(flow.from, flow.rail).leaf).second);
      EXPECT_TRUE(receiving.insert(screen.topology().port(flow.to, flow.rail).leaf).second);
      readings.push_back(fabric.parts.read(flow));
      found.push_back(fabric.parts.trace(flow, readings.back()));
    }
    traces.take(readings, found);
  }
  EXPECT_LE(traces.rounds(), kMostTraceRounds);
  EXPECT_GE(traces.rounds(), 2);
}

// ---- Tools ----

std::string counters(int lid, int port, std::uint64_t sent, std::uint64_t received) {
  return fmt::format(
      "# Port extended counters: Lid {} port {} (CapMask: 0x5A00 CapMask2: 0x0000002)\n"
      "PortXmitData:....................{}\nPortRcvData:.....................{}\n",
      lid, port, sent, received);
}

TEST(PortTraffic, IsReadByLidAndPortOf64Bits) {
  const auto text = counters(12, 33, 9049592493976, 17) + counters(12, 34, 5, 6) +
                    counters(12, 33, 1, 1) +
                    "# Port counters: Lid 13 port 1 (CapMask: 0x5A00)\nPortXmitData:.....7\n" +
                    "# Port extended counters: Lid 14 port 1 (CapMask: 0x5A00)\n"
                    "PortXmitData:....................twelve\nPortRcvData:.....1x\n";

  const auto ports = parse_port_traffic(text);

  ASSERT_THAT(ports, SizeIs(3));
  EXPECT_EQ(ports.at({12, 33}), (PortTraffic{9049592493976, 17}));
  EXPECT_EQ(ports.at({12, 34}), (PortTraffic{5, 6}));
  EXPECT_EQ(ports.at({14, 1}), PortTraffic{});
  EXPECT_THAT(parse_port_traffic(""), IsEmpty());
}

TEST(PortTraffic, OfACaptureIsWhatPerfqueryPrinted) {
  CUPEL_NEEDS_SAMPLE(capture, "perfquery/0x7cfe9003003b4bde.out");

  const auto ports = parse_port_traffic(capture);

  ASSERT_THAT(ports, SizeIs(1));
  EXPECT_EQ(ports.at({134, 1}), (PortTraffic{9049592493976, 9752484588300}));
}

std::string listed(std::string_view guid, std::string_view name, int lid) {
  return fmt::format(
      "Switch\t65 \"S-{}\"\t\t# \"MF0;{}:MQM9700/U1\" enhanced port 0 lid {} lmc 0\n", guid, name,
      lid);
}

TEST(SwitchLids, AreThoseOfTheGuidElseOfTheName) {
  const Names names{.leaves = {"leaf1", "leaf2", "leaf3", "leaf4"},
                    .leaf_guids = {"b0cf0e0300000001", "", "", ""}};
  const auto text =
      listed("b0cf0e0300000001", "any-name", 7) + listed("b0cf0e0300000002", "LEAF2", 8) +
      listed("b0cf0e0300000003", "leaf3", 9) + listed("b0cf0e0300000004", "leaf3", 10) +
      listed("b0cf0e0300000005", "leaf4", 60000) + "Switch nonsense\n";

  EXPECT_THAT(lids_of(text, names), ElementsAre(7, 8, 0, 0));
  EXPECT_THAT(lids_of("", names), Each(0));
}

// ---- The stage ----

/// Three leaf groups of three nodes on two rails, three uplinks each, and switches that count. The
/// second uplink of the first group's leaf of rail 0 is slow, up and down.
class CountingFabric {
 public:
  bool has_tools = true, may_read = true;
  int rounds = 0, looks = 0;

  CountingFabric() {
    std::vector<inventory::FabricMember> cabled;
    for (int i = 0; i < 9; ++i) {
      nodes_.push_back({fmt::format("n{}", i + 1), fmt::format("10.0.0.{}", i + 1)});
      cabled.push_back({nodes_.back().node, {"mlx5_0", "mlx5_6"}});
    }
    std::vector<inventory::Problem> problems;
    fabric_ = make_fabric({.group = 3, .spines = 3, .uplinks = 1}, cabled, problems);
  }

  Result<GroupFindings> measure(Parameters with = {}) {
    const inventory::Profile profile;
    TRY(const auto begun,
        stage("fabric-pairs")
            ->group->rounds(
                {.profile = profile, .members = nodes_, .parameters = with, .fabric = &fabric_}));
    for (auto jobs = begun->next(); !jobs.empty(); jobs = begun->next(), ++rounds) {
      std::vector<std::optional<Output>> outputs(nodes_.size());
      // What a flow sends is counted before anyone reads it once more.
      for (const bool before : {true, false})
        for (std::size_t i = 0; i < nodes_.size(); ++i)
          if (jobs[i]) answer(i, order_of(*jobs[i]), before, outputs[i]);
      begun->take(outputs, std::vector<bool>(nodes_.size()));
    }
    return begun->findings();
  }

 private:
  static constexpr int kFirstLid = 20;

  void answer(std::size_t node, const json::object& order, bool before,
              std::optional<Output>& output) {
    if (!output) output.emplace();
    if (order.contains("look")) {
      if (before) look(*output);
      return;
    }
    if (before) {
      read_counters(order, "before", *output);
      for (std::size_t to = 0; to < nodes_.size(); ++to) send(node, to, order, *output);
    } else {
      read_counters(order, "after", *output);
    }
  }

  void look(Output& output) {
    ++looks;
    if (!has_tools) {
      output.text = "cupel-missing: ibnetdiscover\ncupel-missing: perfquery\n";
      return;
    }
    if (!may_read) {
      output.errors = "ibwarn: [7] mad_rpc_open_port: can't open UMAD port (mlx5_0:1)\n";
      return;
    }
    for (std::size_t i = 0; i < fabric_.switches.size(); ++i)
      output.text += listed(fmt::format("{:016x}", i + 1), fabric_.switches[i].name,
                            kFirstLid + static_cast<int>(i));
  }

  int lid_of(std::string_view name) const {
    const auto at = std::ranges::find(fabric_.switches, name, &inventory::FabricSwitch::name);
    return kFirstLid + static_cast<int>(at - fabric_.switches.begin());
  }

  void send(std::size_t from, std::size_t to, const json::object& order, Output& output) {
    for (const int rail : {0, 1}) {
      if (peer_of(order, rail) != fmt::format("10.0.0.{}", to + 1)) continue;
      const bool across = from / 3 != to / 3;
      const bool slow = rail == 0 && to % 3 == 1 && across && (from / 3 == 0 || to / 3 == 0);
      const double rate = slow ? 200 : 390 - 0.1 * static_cast<double>(from);
      output.text += fmt::format(
          "cupel-begin: rail{}\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
          "MsgRate[Mpps]\n 1048576          465000           0.00               {:.2f}            "
          "0.046\n\ncupel-end\n",
          rail, rate);
      if (across) count(from, to, rail, rate);
    }
  }

  /// In units of 4 bytes: 10 s of the flow, and 1 % of headers, by the place of the destination.
  void count(std::size_t from, std::size_t to, int rail, double rate) {
    const inventory::FabricMap map{fabric_};
    const auto words = static_cast<std::uint64_t>(rate * 1e9 / 8 * 10 * 1.01 / 4);
    for (const auto node : {from, to}) {
      const auto leaf = map.rail_port(nodes_[node].node, rail)->leaf;
      const auto& uplink = map.uplinks(leaf).at(to % 3);
      auto& port = ports_[{lid_of(leaf), uplink.leaf_port}];
      (node == from ? port.first : port.second) += words;
    }
  }

  void read_counters(const json::object& order, std::string_view when, Output& output) {
    const auto* queries = order.if_contains("queries");
    for (const auto& each : queries == nullptr ? json::array{} : queries->as_array()) {
      const auto section =
          fmt::format("cupel-begin: ports-{}{}\n", when, json::value_to<int>(each.at("rail")));
      if (!output.text.contains(section)) output.text += section + "cupel-end\n";
      std::string text;
      EXPECT_EQ(json::serialize(each.at("ports")), "[4,5,6]");
      for (const int port : {4, 5, 6}) {
        const auto lid = json::value_to<int>(each.at("lid"));
        const auto& [sent, received] = ports_[{lid, port}];
        text += counters(lid, port, 1000 + sent, 1000 + received);
      }
      output.text.insert(output.text.find(section) + section.size(), text);
    }
  }

  inventory::Fabric fabric_{};
  std::vector<Member> nodes_{};
  std::map<std::pair<int, int>, std::pair<std::uint64_t, std::uint64_t>> ports_{};
};

TEST(PairTraces, PutASlowUplinkOnTheNodesBehindItsLeafThoughRoutingIsNotKnown) {
  CountingFabric site;

  const auto found = site.measure();

  ASSERT_TRUE(found) << found.error().what;
  ASSERT_EQ(found->links.size(), 1u) << ::testing::PrintToString(found->reasons);
  EXPECT_EQ(to_text(found->links[0].link), "port:leaf1-r1/5");
  EXPECT_EQ(found->links[0].measured.name, "fabric.switch.loss");
  EXPECT_NEAR(found->links[0].measured.value, 49, 2);
  EXPECT_THAT(found->links[0].behind, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(site.looks, 1);
  EXPECT_THAT(found->reasons, AllOf(Contains(HasSubstr("were traced by port counters")),
                                    Not(Contains(HasSubstr("routing is adaptive or not known")))));
  for (const auto& member : found->members)
    for (const auto& each : member.measurements) EXPECT_NE(each.name, "fabric.undecided");
}

TEST(PairTraces, SayWhatToInstallWhereNoNodeMayReadCounters) {
  for (const bool has_tools : {false, true}) {
    CountingFabric site;
    site.has_tools = has_tools;
    site.may_read = false;

    const auto found = site.measure();

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_THAT(found->links, IsEmpty());
    EXPECT_EQ(site.looks, 2);  // the senders of the slow flows, once each
    EXPECT_THAT(found->reasons,
                AllOf(Contains(HasSubstr("uplinks of slow flows were not traced: n")),
                      Contains(HasSubstr(has_tools ? "can't open UMAD port"
                                                   : "ibnetdiscover is not installed")),
                      Contains(HasSubstr("With infiniband-diags on the nodes, and root")),
                      Contains(HasSubstr("an uplink of leaf1-r1 (ports 4, 5, 6): "))));
  }
}

TEST(PairTraces, AreNotMadeWhereAFlowHasNoUplinkOfItsOwn) {
  for (const auto& with : {Parameters{{"routing", "adaptive"}}, Parameters{{"routing", "ecmp"}},
                           Parameters{{"gid", "3"}}, Parameters{{"test", "read"}}}) {
    CountingFabric site;

    const auto found = site.measure(with);

    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(site.looks, 0);
    EXPECT_THAT(found->links, IsEmpty());
  }
}

}  // namespace
}  // namespace cupel::burnin::fabric
