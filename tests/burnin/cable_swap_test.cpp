#include "burnin/fabric/cable_swap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "burnin/fabric/plan_wiring.h"
#include "burnin/fabric/screen.h"
#include "burnin/fabric/swap_choice.h"
#include "inventory/fabric_rule.h"
#include "inventory/forwarding.h"

namespace cupel::burnin::fabric {
namespace {

using inventory::CableEnd;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Outcome = SwapAnswer::Outcome;

const CableEnd kHca3{"n03", "mlx5_0", 1}, kHca4{"n04", "mlx5_0", 1};
const CableEnd kLeaf3{"leaf1-r1", "", 3}, kLeaf4{"leaf1-r1", "", 4};

LinkPart port(CableEnd at) { return {LinkPart::Kind::port, std::move(at)}; }
LinkPart cable(CableEnd at) { return {LinkPart::Kind::cable, std::move(at)}; }

/// Two leaf groups of eight nodes, one rail, eight spines: an uplink and its twin carry the same
/// flows.
inventory::Fabric plan() {
  std::vector<inventory::FabricMember> members;
  for (int node = 1; node <= 16; ++node)
    members.push_back({fmt::format("n{:02}", node), {"mlx5_0"}});
  std::vector<inventory::Problem> problems;
  return make_fabric({.group = 8, .spines = 8, .uplinks = 1}, members, problems);
}

SwapAnswer answer(const Exchange& exchange, std::vector<SlowLinks> before,
                  std::vector<SlowLinks> after) {
  const auto answers = read_exchange(plan(), exchange, before, after);
  EXPECT_TRUE(answers) << (answers ? "" : answers.error().what);
  return answers && answers->size() == 1 ? answers->front() : SwapAnswer{};
}

TEST(CableSwap, AtTheLeafAFaultThatStaysWithTheHcaIsItsOwnOrItsCables) {
  const auto found = answer({kLeaf3, kLeaf4}, {{kHca3}}, {{kHca3}});

  EXPECT_EQ(found.outcome, Outcome::named);
  EXPECT_THAT(found.parts, UnorderedElementsAre(port(kHca3), cable(kHca3)));
  EXPECT_THAT(found.cleared, ElementsAre(port(kLeaf3)));
  EXPECT_EQ(
      to_string(found),
      "link of n03 mlx5_0: still slow with HCA mlx5_0 of n03 or the cable that the plan has in "
      "n03 mlx5_0; cleared: port 3 of leaf1-r1");
}

TEST(CableSwap, AtTheLeafAFaultThatStaysInThePortIsThePorts) {
  const auto found = answer({kLeaf3, kLeaf4}, {{kHca3}}, {{kHca4}});

  EXPECT_EQ(found.outcome, Outcome::named);
  EXPECT_THAT(found.parts, ElementsAre(port(kLeaf3)));
}

TEST(CableSwap, DistinguishesTheHcaAtTheNodes) {
  EXPECT_THAT(answer({kHca3, kHca4}, {{kHca3}}, {{kHca3}}).parts, ElementsAre(port(kHca3)));
  EXPECT_THAT(answer({kHca3, kHca4}, {{kHca3}}, {{kHca4}}).parts,
              UnorderedElementsAre(cable(kHca3), port(kLeaf3)));
}

TEST(CableSwap, WhatIsSlowNowhereOrInBothPlacesNamesNoPart) {
  EXPECT_EQ(answer({kLeaf3, kLeaf4}, {{kHca3}}, {}).outcome, Outcome::gone);
  EXPECT_EQ(answer({kLeaf3, kLeaf4}, {{kHca3}}, {{kHca3}, {kHca4}}).outcome, Outcome::both);
}

TEST(CableSwap, LinksThatTheExchangeDoesNotConcernAreNotAnswered) {
  const CableEnd other{"n07", "mlx5_0", 1};
  const auto answers =
      read_exchange(plan(), {kLeaf3, kLeaf4}, std::vector<SlowLinks>{{other}, {kHca3}},
                    std::vector<SlowLinks>{{other}, {kHca3}});
  const auto none = read_exchange(plan(), {kLeaf3, kLeaf4}, std::vector<SlowLinks>{{other}}, {});

  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 1u);
  EXPECT_EQ(answers->front().was, SlowLinks{kHca3});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, HasSubstr("no link that was slow has a part in the exchange"));
}

TEST(CableSwap, AnExchangeThatCannotBeIsRefused) {
  const auto fabric = plan();
  const CableEnd spine{"spine1", "", 1};

  for (const auto& [one, other] :
       {std::pair{kHca3, kLeaf4}, std::pair{kHca3, kLeaf3}, std::pair{kHca3, kHca3},
        std::pair{kLeaf3, spine}, std::pair{kLeaf3, CableEnd{"leaf1-r1", "", 60}}})
    EXPECT_FALSE(exchanged(fabric, {one, other}));
  for (const auto* text : {"", "n03/mlx5_0", "n03/mlx5_0,", "n03/mlx5_0,n99/mlx5_0", "a,b,c"})
    EXPECT_FALSE(exchange_of(text, fabric)) << text;
  EXPECT_EQ(exchange_of("n03/mlx5_0, leaf1-r1/4", fabric).value(), (Exchange{kHca3, kLeaf4}));
}

TEST(CableSwap, ExchangedTwiceThePlanIsAsItWas) {
  const auto fabric = plan();
  for (const auto& [one, other] : {std::pair{kHca3, kHca4}, std::pair{kLeaf3, kLeaf4}}) {
    const auto once = exchanged(fabric, {one, other}).value();

    EXPECT_NE(once.fabric, fabric);
    EXPECT_EQ(exchanged(once.fabric, {one, other}).value().fabric, fabric);
  }
}

/// As dump_fts would print them: leaves choose the uplink by the place of the destination, by their
/// own ports, whatever is plugged in there.
inventory::ForwardingTables tables_of(const inventory::Fabric& fabric) {
  constexpr int kNodesOfALeaf = 8;
  const inventory::FabricMap map{fabric};
  std::string text;
  for (const auto& at : fabric.switches) {
    text += fmt::format("Unicast lids [0x0-0x99] of switch Lid 1 guid 0x1 ({}):\n", at.name);
    for (std::size_t node = 0; node < fabric.nodes.size(); ++node) {
      const auto home = map.rail_port(fabric.nodes[node].name, 0).value();
      int out = home.port;
      for (const auto& up : map.uplinks(home.leaf))
        if (up.spine == at.name) out = up.spine_port;
      if (at.level == inventory::SwitchLevel::leaf && at.name != home.leaf)
        out = kNodesOfALeaf + home.port;
      text += fmt::format("0x{:04x} {:03} : (Channel Adapter portguid 0x1: '{} mlx5_0')\n",
                          node + 1, out, fabric.nodes[node].name);
    }
  }
  return inventory::parse_forwarding(text).value();
}

/// A fabric in which one port or one cable leaves 60 % of the rate, measured by pairs.
struct Bench {
  inventory::Fabric planned = plan();
  LinkPart bad{};

  std::vector<SlowLinks> measure(const Recabled& now) const {
    std::vector<std::string> nodes;
    for (const auto& node : planned.nodes) nodes.push_back(node.name);
    const auto tables = tables_of(now.fabric);
    const auto made = wiring_of(now.fabric, nodes, Routing::by_destination, &tables).value();
    PairScreen screen{made.wiring, {}};
    std::mt19937_64 draw{7};
    std::normal_distribution<double> noise{0, 0.006};
    while (!screen.next_flows().empty()) {
      std::vector<double> readings;
      for (const auto& flow : screen.next_flows())
        readings.push_back((crosses(screen, made.names, flow, now) ? 0.6 : 1) * (1 + noise(draw)));
      screen.take(readings);
    }
    return slow(screen, made.names);
  }

  bool crosses(const PairScreen& screen, const Names& names, const Flow& flow,
               const Recabled& now) const {
    std::vector<PartId> parts;
    screen.topology().add_parts(flow, parts);
    for (const auto id : parts)
      if (const auto end = end_of(screen.topology(), names, id)) {
        const auto of_link = parts_of_link(planned, now, *end);
        if (std::ranges::find(of_link, bad) != of_link.end()) return true;
      }
    return false;
  }

  static std::optional<CableEnd> end_of(const Topology& topology, const Names& names, PartId id) {
    const auto part = topology.part(id);
    const auto owner = static_cast<std::size_t>(part.owner);
    if (part.kind == PartKind::access) return CableEnd{names.nodes[owner], "mlx5_0", 1};
    if (part.kind != PartKind::uplink) return std::nullopt;
    const auto uplink = owner * static_cast<std::size_t>(topology.wiring().uplinks) +
                        static_cast<std::size_t>(part.index);
    return CableEnd{names.leaves[owner], "", std::stoi(names.uplink_ports[uplink])};
  }

  static std::vector<SlowLinks> slow(const PairScreen& screen, const Names& names) {
    std::vector<SlowLinks> all;
    const auto found = screen.culprits();
    for (const auto* some : {&found.named, &found.open})
      for (const auto& each : *some) {
        SlowLinks links;
        for (const auto part : each.parts)
          if (const auto end = end_of(screen.topology(), names, part)) links.push_back(*end);
        if (!links.empty()) all.push_back(std::move(links));
      }
    return all;
  }

  /// What is still under suspicion after the exchange.
  std::vector<LinkPart> left(const Exchange& exchange) const {
    const auto now = exchanged(planned, exchange).value();
    Recabled then{.fabric = planned, .was = {}};
    for (std::size_t i = 0; i < planned.cables.size(); ++i) then.was.push_back(i);
    const auto answers = read_exchange(planned, exchange, measure(then), measure(now));
    std::vector<LinkPart> parts;
    if (answers)
      for (const auto& each : *answers)
        parts.insert(parts.end(), each.parts.begin(), each.parts.end());
    return parts;
  }
};

// Uplinks of place 3 and of place 5, by the leaf's ports and by those of the spines.
const CableEnd kUp{"leaf1-r1", "", 11}, kOther{"leaf1-r1", "", 13}, kTwin{"leaf2-r1", "", 11};
const CableEnd kSpine{"spine3", "", 1}, kOtherSpine{"spine5", "", 1}, kTwinSpine{"spine3", "", 2};

TEST(CableSwap, DistinguishesAnUplinkFromItsTwinAtTheSpines) {
  const Exchange at_the_spines{kSpine, kOtherSpine};
  const auto of_the_leaf = UnorderedElementsAre(port(kUp), cable(kUp));
  const auto of_the_spine =
      UnorderedElementsAre(port(kSpine), port(kTwin), cable(kTwin), port(kTwinSpine));

  for (const auto& bad : {port(kUp), cable(kUp)})
    EXPECT_THAT(Bench{.bad = bad}.left(at_the_spines), of_the_leaf) << to_string(bad);
  for (const auto& bad : {port(kSpine), port(kTwin), cable(kTwin), port(kTwinSpine)})
    EXPECT_THAT(Bench{.bad = bad}.left(at_the_spines), of_the_spine) << to_string(bad);
}

/// There both remain on the way of the same flows: only the leaf's port is distinguished.
TEST(CableSwap, DoesNotDistinguishAnUplinkFromItsTwinAtTheLeaf) {
  const Exchange at_the_leaf{kUp, kOther};

  EXPECT_THAT(Bench{.bad = port(kUp)}.left(at_the_leaf), ElementsAre(port(kUp)));
  for (const auto& bad : {cable(kUp), port(kSpine), port(kTwin)}) {
    const auto left = Bench{.bad = bad}.left(at_the_leaf);
    EXPECT_THAT(left, Not(Contains(port(kUp)))) << to_string(bad);
    EXPECT_THAT(left, ::testing::IsSupersetOf({cable(kUp), port(kTwin)})) << to_string(bad);
  }
}

TEST(CableSwap, OfAnAccessLinkThePairsAndTheExchangeNameThePart) {
  EXPECT_THAT((Bench{.bad = port(kLeaf3)}.left({kLeaf3, kLeaf4})), ElementsAre(port(kLeaf3)));
  EXPECT_THAT((Bench{.bad = port(kHca3)}.left({kHca3, kHca4})), ElementsAre(port(kHca3)));
  EXPECT_THAT((Bench{.bad = cable(kHca3)}.left({kLeaf3, kLeaf4})),
              UnorderedElementsAre(port(kHca3), cable(kHca3)));
}

/// Exchanges as they are chosen, the plugs put back between them, until no more is chosen: what is
/// left of a link with that bad part.
std::vector<LinkPart> inquire(const Bench& bench, int& exchanges) {
  Recabled then{.fabric = bench.planned, .was = {}};
  for (std::size_t i = 0; i < bench.planned.cables.size(); ++i) then.was.push_back(i);
  const auto before = bench.measure(then);
  EXPECT_EQ(before.size(), 1u) << to_string(bench.bad);
  if (before.size() != 1) return {};
  const std::set<CableEnd> slow{before.front().begin(), before.front().end()};
  auto suspected = parts_of_links(bench.planned, before.front());
  for (exchanges = 0; exchanges < 6; ++exchanges) {
    const auto next = deciding_exchange(bench.planned, suspected, slow);
    if (!next) break;
    EXPECT_EQ(exchange_of(to_string(*next), bench.planned).value(), *next);
    const auto left = bench.left(*next);
    std::vector<LinkPart> both;
    for (const auto& part : suspected)
      if (std::ranges::find(left, part) != left.end()) both.push_back(part);
    EXPECT_LT(both.size(), suspected.size()) << to_string(*next);
    suspected = both;
  }
  return suspected;
}

TEST(SwapChoice, ExchangesAsTheyAreChosenNameEachPartOfALink) {
  for (const auto& bad : {port(kHca3), cable(kHca3), port(kLeaf3)}) {
    int exchanges = 0;
    EXPECT_THAT(inquire({.bad = bad}, exchanges), ElementsAre(bad)) << to_string(bad);
    EXPECT_LE(exchanges, 2);
  }
}

/// Between two leaf groups each flow crosses both ports of a spine.
TEST(SwapChoice, ExchangesAsTheyAreChosenNameEachPartOfAnUplinkButTheTwoPortsOfASpine) {
  for (const auto& bad : {port(kUp), cable(kUp), port(kTwin), cable(kTwin)}) {
    int exchanges = 0;
    EXPECT_THAT(inquire({.bad = bad}, exchanges), ElementsAre(bad)) << to_string(bad);
    EXPECT_LE(exchanges, 3);
  }
  for (const auto& bad : {port(kSpine), port(kTwinSpine)}) {
    int exchanges = 0;
    EXPECT_THAT(inquire({.bad = bad}, exchanges),
                UnorderedElementsAre(port(kSpine), port(kTwinSpine)));
  }
}

TEST(SwapChoice, IsMadeAtTheLeafFirstAndWithALinkThatIsWell) {
  const auto fabric = plan();
  const std::set<CableEnd> slow{kHca3, kHca4, {"n02", "mlx5_0", 1}};
  const std::vector<LinkPart> all{cable(kHca3), port(kHca3), port(kLeaf3)};
  const std::vector<LinkPart> of_the_node{cable(kHca3), port(kHca3)};

  EXPECT_EQ(to_string(*deciding_exchange(fabric, all, slow)), "leaf1-r1/3,leaf1-r1/1");
  EXPECT_EQ(to_string(*deciding_exchange(fabric, of_the_node, slow)), "n03/mlx5_0,n01/mlx5_0");
}

TEST(SwapChoice, NothingIsChosenForOnePartOrWithoutALinkThatIsWell) {
  const auto fabric = plan();
  std::set<CableEnd> all;
  for (const auto& each : fabric.cables) all.insert(each.from);

  EXPECT_FALSE(deciding_exchange(fabric, {}, {}));
  EXPECT_FALSE(deciding_exchange(fabric, std::vector{port(kHca3)}, {kHca3}));
  EXPECT_FALSE(deciding_exchange(fabric, std::vector{port(kHca3), cable(kHca3)}, all));
  EXPECT_FALSE(deciding_exchange(fabric, std::vector{port({"n99", "mlx5_0", 1})}, {}));
}

}  // namespace
}  // namespace cupel::burnin::fabric
