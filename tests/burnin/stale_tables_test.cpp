// Forwarding tables of another day than the cables.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/fabric/plan_wiring.h"
#include "inventory/fabric_rule.h"
#include "inventory/forwarding.h"

namespace cupel::burnin::fabric {
namespace {

constexpr int kNodes = 8, kGroup = 4;

std::string node_name(int node) { return fmt::format("n{}", node + 1); }

inventory::Fabric plan() {
  std::vector<inventory::FabricMember> members;
  for (int node = 0; node < kNodes; ++node) members.push_back({node_name(node), {"mlx5_0"}});
  std::vector<inventory::Problem> problems;
  auto made = make_fabric({.group = kGroup, .spines = 2, .uplinks = 1}, members, problems);
  EXPECT_TRUE(problems.empty());
  return made;
}

/// As dump_fts prints them, of a day on which the LID of node i was that of `lid_of[i]` today.
inventory::ForwardingTables tables(const inventory::Fabric& fabric,
                                   const std::vector<int>& lid_of) {
  const inventory::FabricMap map{fabric};
  std::string text;
  for (const auto& at : fabric.switches) {
    text += fmt::format("Unicast lids [0x0-0x99] of switch Lid 1 guid 0x1 ({}):\n", at.name);
    for (int node = 0; node < kNodes; ++node) {
      const auto home = map.rail_port(node_name(lid_of[static_cast<std::size_t>(node)]), 0).value();
      int port = home.port;
      for (const auto& up : map.uplinks(home.leaf))
        if (up.spine == at.name) port = up.spine_port;
      if (at.level == inventory::SwitchLevel::leaf && at.name != home.leaf)
        port = map.uplinks(at.name).at(static_cast<std::size_t>(home.port % 2)).leaf_port;
      text += fmt::format("0x{:04x} {:03} : (Channel Adapter portguid 0x1: '{} mlx5_0')\n",
                          node + 1, port, node_name(node));
    }
  }
  return inventory::parse_forwarding(text).value();
}

/// Nodes to which the wiring knows the uplinks of every other leaf.
std::vector<std::string> known_nodes(const std::vector<int>& lid_of) {
  const auto fabric = plan();
  std::vector<std::string> names;
  for (int node = 0; node < kNodes; ++node) names.push_back(node_name(node));
  const auto forwarding = tables(fabric, lid_of);
  const auto made = wiring_of(fabric, names, Routing::by_destination, &forwarding).value();
  std::vector<std::string> known;
  for (int node = 0; node < kNodes; ++node) {
    const int home = made.wiring.ports[static_cast<std::size_t>(node)].leaf;
    for (const auto& [from, routes] : made.wiring.routes)
      if (from.first != home && routes[static_cast<std::size_t>(node)].known())
        known.push_back(node_name(node));
  }
  return known;
}

TEST(StaleTables, GiveNoRouteToAnHcaThatTheyHaveAtAnotherPortOfItsLeaf) {
  using ::testing::ElementsAre;

  EXPECT_THAT(known_nodes({0, 1, 2, 3, 4, 5, 6, 7}),
              ElementsAre("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"));
  EXPECT_THAT(known_nodes({1, 0, 2, 3, 4, 5, 6, 7}),
              ElementsAre("n3", "n4", "n5", "n6", "n7", "n8"));
  EXPECT_THAT(known_nodes({1, 2, 3, 4, 5, 6, 7, 0}), ::testing::IsEmpty());
}

/// LIDs and node ports as today; before the uplinks of the two leaves were exchanged at the first
/// spine.
TEST(StaleTables, OfOtherUplinksGiveNoRouteAtAllAndSaySo) {
  const auto before = plan();
  auto now = before;
  std::vector<inventory::CableEnd*> ends;
  for (auto& cable : now.cables)
    for (auto* end : {&cable.from, &cable.to})
      if (end->device == before.switches.back().name) ends.push_back(end);
  ASSERT_EQ(ends.size(), 2u) << "one for each leaf";
  std::swap(ends[0]->port, ends[1]->port);
  std::vector<std::string> names;
  for (int node = 0; node < kNodes; ++node) names.push_back(node_name(node));
  auto forwarding = tables(before, {0, 1, 2, 3, 4, 5, 6, 7});

  const auto fresh = wiring_of(before, names, Routing::by_destination, &forwarding).value();
  const auto stale = wiring_of(now, names, Routing::by_destination, &forwarding).value();
  forwarding.mark_stale("forwarding.txt was made before cables.csv was changed");
  const auto marked = wiring_of(before, names, Routing::by_destination, &forwarding).value();

  EXPECT_EQ(fresh.stale, "");
  EXPECT_FALSE(fresh.wiring.routes.empty());
  EXPECT_THAT(stale.stale, ::testing::HasSubstr("they contradict the cable plan: "));
  EXPECT_TRUE(stale.wiring.routes.empty());
  EXPECT_EQ(marked.stale, forwarding.stale());
  EXPECT_TRUE(marked.wiring.routes.empty());
}

}  // namespace
}  // namespace cupel::burnin::fabric
