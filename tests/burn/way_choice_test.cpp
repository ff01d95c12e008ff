#include "burnin/agent/burn/way_choice.h"

#include <gtest/gtest.h>

namespace cupel::burn {
namespace {

TEST(WayChoice, TakesTheFastestOfThoseThatRepeat) {
  const std::vector<WayTrials> trials(2, {{0.3, true}, {0.1, true}, {0.2, true}});

  EXPECT_EQ(choose_way(trials).way, 1);
  EXPECT_EQ(choose_way(trials).dropped, 0);
}

TEST(WayChoice, DropsAWayThatRepeatsOnNoGpu) {
  const std::vector<WayTrials> trials(8, {{0.3, true}, {0.1, false}});

  EXPECT_EQ(choose_way(trials).way, 0);
  EXPECT_EQ(choose_way(trials).dropped, 1);
}

TEST(WayChoice, KeepsAWayThatFailsToRepeatOnOneGpuOfSeveral) {
  std::vector<WayTrials> trials(8, {{0.3, true}, {0.1, true}});
  trials[5][1].repeats = false;

  EXPECT_EQ(choose_way(trials).way, 1);
  EXPECT_EQ(choose_way(trials).dropped, 0);
}

TEST(WayChoice, DropsNoneWhereOneGpuIsAlone) {
  const std::vector<WayTrials> trials{{{0.3, true}, {0.1, false}}};

  EXPECT_EQ(choose_way(trials).way, 1);
}

TEST(WayChoice, TakesNoneWhereNoWayRepeats) {
  const std::vector<WayTrials> trials(2, {{0.3, false}, {0.1, false}});

  EXPECT_FALSE(choose_way(trials).way);
}

TEST(WayChoice, TakesTheFirstWithoutTrialsAndTheOneThatWasTried) {
  EXPECT_EQ(choose_way({}).way, 0);
  const std::vector<WayTrials> cut{{{0.9, true}}, {{0.9, true}, {1.1, true}}, {}};
  EXPECT_EQ(choose_way(cut).way, 0);
}

TEST(WayChoice, RotatesWhereOneGpuDoesSoThatTheOthersAreHeldAgainstIt) {
  std::vector<WayTrials> trials(3, {{0.1, true, false}});

  EXPECT_FALSE(choose_way(trials).rotates);
  trials[2][0].rotates = true;
  EXPECT_TRUE(choose_way(trials).rotates);
  EXPECT_TRUE(choose_way({}).rotates);
}

TEST(WayChoice, TakesAWayThatRotatesWhereOneGpuIsAlone) {
  std::vector<WayTrials> trials{{{0.1, true, false}, {0.3, true, true}, {0.2, true, true}}};

  EXPECT_EQ(choose_way(trials).way, 2);
  EXPECT_TRUE(choose_way(trials).rotates);
  trials[0].resize(1);
  EXPECT_EQ(choose_way(trials).way, 0);
  EXPECT_FALSE(choose_way(trials).rotates);
}

}  // namespace
}  // namespace cupel::burn
