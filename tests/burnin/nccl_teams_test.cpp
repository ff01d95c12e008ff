// Which nodes the stage fabric-nccl runs together.
#include <gmock/gmock.h>

#include "burnin/fabric/teams.h"

namespace cupel::burnin {
namespace {

using ::testing::HasSubstr;

TEST(NcclTeams, PairsGiveEachNodeTwoPartners) {
  const std::vector<std::string> four{"a", "b", "c", "d"}, three{"a", "b", "c"}, two{"a", "b"};
  const auto of = [](std::span<const std::string> nodes) {
    std::vector<std::vector<std::vector<std::size_t>>> all;
    for (const auto& round : *fabric::teams_of("pairs", nodes, nullptr)) {
      all.emplace_back();
      for (const auto& team : round) all.back().push_back(team.members);
    }
    return all;
  };
  using Rounds = std::vector<std::vector<std::vector<std::size_t>>>;

  EXPECT_EQ(of(four), (Rounds{{{0, 1}, {2, 3}}, {{1, 2}, {3, 0}}}));
  EXPECT_EQ(of(three), (Rounds{{{0, 1}}, {{1, 2}}, {{2, 0}}}));
  EXPECT_EQ(of(two), (Rounds{{{0, 1}}}));
}

TEST(NcclTeams, LeavesAndRailsNeedThePlan) {
  const std::vector<std::string> nodes{"a", "b"};

  for (const auto* groups : {"leaf", "rail"}) {
    const auto teams = fabric::teams_of(groups, nodes, nullptr);

    ASSERT_FALSE(teams);
    EXPECT_THAT(teams.error().what, HasSubstr("cable plan"));
  }
}

}  // namespace
}  // namespace cupel::burnin
