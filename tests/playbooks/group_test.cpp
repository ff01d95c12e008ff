#include "playbooks/group.h"

#include <gmock/gmock.h>

#include "inventory/node.h"

namespace cupel::playbooks {
namespace {
using inventory::Node;
using inventory::Problem;
using Members = std::vector<std::size_t>;
using ::testing::ElementsAre;

/// Nodes that all do one step, in the order in which they are given.
struct Site {
  std::vector<Node> nodes{};
  std::vector<Problem> problems{};

  void add(std::string rack, int unit, std::string profile = "p") {
    Node node;
    node.name = "n" + std::to_string(nodes.size());
    node.rack = std::move(rack);
    node.unit = unit;
    node.profile = std::move(profile);
    nodes.push_back(std::move(node));
  }
  std::vector<Members> grouped(Together together) {
    PlannedStep step;
    step.name = "nccl";
    step.together = together;
    const auto steps = std::make_shared<const std::vector<PlannedStep>>(std::vector{step});
    std::vector<NodePlan> plans;
    for (const auto& node : nodes) plans.push_back({&node, steps});
    std::vector<Members> members;
    for (const auto& group : groups_of(plans, problems)) members.push_back(group.members);
    return members;
  }
};

TEST(Group, PairsNeighboursOfARackAndLeavesTheOddOneAlone) {
  Site site;
  site.add("b", 1);
  site.add("a", 20);
  site.add("a", 2);
  site.add("b", 9);
  site.add("a", 10);

  EXPECT_THAT(site.grouped(Together::pairs), ElementsAre(Members{2, 4}, Members{0, 3}));
}

TEST(Group, JoinsARackAndTheWholeRun) {
  Site site;
  site.add("a", 1);
  site.add("b", 1);
  site.add("a", 2);
  site.add("b", 2);
  site.add("c", 1);

  EXPECT_THAT(site.grouped(Together::rack), ElementsAre(Members{0, 2}, Members{1, 3}));
  EXPECT_THAT(site.grouped(Together::all), ElementsAre(Members{0, 2, 1, 3, 4}));
  EXPECT_THAT(site.grouped(Together::alone), ElementsAre());
}

TEST(Group, KeepsMachinesOfUnlikeProfilesApart) {
  Site site;
  site.add("a", 1, "h100");
  site.add("a", 2, "a100");
  site.add("a", 3, "h100");

  EXPECT_THAT(site.grouped(Together::pairs), ElementsAre(Members{0, 2}));
}

TEST(Group, OfARackNeedsNodesWhoseRackIsTold) {
  Site site;
  site.add("", 0);

  (void)site.grouped(Together::rack);

  EXPECT_EQ(to_string(site.problems), ": 'nccl' is done by whole racks, and node 'n0' has none\n");
}

}  // namespace
}  // namespace cupel::playbooks
