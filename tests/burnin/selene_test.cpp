// NVIDIA's Selene as ibnetdiscover printed it: its cables follow the rule of a rail-optimised
// fabric, though its HCAs' numbers do not count rails.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "inventory/fabric_audit.h"
#include "tests/support/fabric_files.h"

namespace cupel::burnin {
namespace {

using namespace inventory;

const std::vector<std::string> kHcas{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                     "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"};

/// The plan that the report itself follows, if its rule holds: rail k is the k-th HCA of the list.
Fabric plan_of(const SeenFabric& seen) {
  Fabric plan;
  std::map<std::string, int> rails;  // of a leaf
  std::map<std::string, bool> nodes;
  for (const auto& link : seen.links) {
    const auto* at = &link.from;
    const auto* host = &link.to;
    if (seen.devices[at->device].kind != SeenDevice::Kind::switch_device) std::swap(at, host);
    const auto& hca = seen.devices[host->device];
    const auto rail = std::ranges::find(kHcas, hca.hca);
    if (hca.kind != SeenDevice::Kind::hca || rail == kHcas.end() || !hca.name.starts_with("luna-"))
      continue;
    const auto& leaf = seen.devices[at->device].name;
    rails.try_emplace(leaf, static_cast<int>(rail - kHcas.begin()));
    nodes[hca.name] = true;
    plan.cables.push_back(
        {.from = {hca.name, hca.hca, host->port}, .to = {leaf, "", at->port}, .speed = "HDR"});
  }
  for (const auto& [leaf, rail] : rails)
    plan.switches.push_back({.name = leaf, .rail = rail, .ports = 40});
  for (const auto& [node, known] : nodes) plan.nodes.push_back({.name = node, .hcas = kHcas});
  return plan;
}

TEST(Selene, EveryNodeHasItsRailsInTheSamePortOfEightLeaves) {
  CUPEL_NEEDS_FABRIC_FILE(text, "ibnetdiscover/selene_compute_666sw_4341ca.txt.gz");
  const auto seen = parse_ibnetdiscover(text);
  ASSERT_TRUE(seen);
  const auto plan = plan_of(*seen);
  const FabricMap map{plan};

  std::size_t whole = 0;
  for (const auto& node : plan.nodes) {
    std::set<int> ports;
    std::size_t rails = 0;
    for (int rail = 0; rail < 8; ++rail) {
      const auto port = map.rail_port(node.name, rail);
      if (!port) continue;
      ++rails;
      ports.insert(port->port);
      EXPECT_EQ(map.find_switch(port->leaf)->rail, rail) << node.name << " " << port->hca;
    }
    if (rails == 8 && ports.size() == 1) ++whole;
  }

  EXPECT_EQ(whole, 458u);
}

TEST(Selene, TwoSwappedCablesAmongFourThousandAreTheOnlyFindingOfTheirKind) {
  CUPEL_NEEDS_FABRIC_FILE(text, "ibnetdiscover/selene_compute_666sw_4341ca.txt.gz");
  const auto seen = parse_ibnetdiscover(text);
  ASSERT_TRUE(seen);
  auto plan = plan_of(*seen);
  ASSERT_GT(plan.cables.size(), 3600u);
  std::swap(plan.cables[100].to, plan.cables[2000].to);

  const auto audit = audit_fabric(plan, *seen);

  std::vector<CableFinding> moves;
  for (const auto& finding : audit.findings)
    if (!finding.moves.empty()) moves.push_back(finding);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].fault, CableFault::swapped);
  EXPECT_EQ(audit.right, plan.cables.size() - 2);
}

}  // namespace
}  // namespace cupel::burnin
