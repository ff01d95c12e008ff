// A node's clock against ours: a reading waits for a controller that was away, and says nothing
// then of how long.
#include <gtest/gtest.h>

#include "orchestrator/steps/stage_output.h"

namespace cupel::steps {
namespace {

TEST(ClockAhead, IsWhatNoWaitingExplains) {
  constexpr double kBegan = 1'000'000, kNow = kBegan + 7200;  // read two hours after its start

  EXPECT_EQ(clock_ahead(kNow + 600, kBegan, kNow), 600);
  EXPECT_EQ(clock_ahead(kBegan + 5, kBegan, kNow), 0) << "read at once, heard of two hours later";
  EXPECT_EQ(clock_ahead(kNow - 1, kBegan, kNow), 0);
  EXPECT_EQ(clock_ahead(kBegan - 3600, kBegan, kNow), -3600)
      << "before its step began: it is behind";
}

TEST(ClockAhead, IsUnknownWhereNothingSaysWhenTheStepBegan) {
  EXPECT_EQ(clock_ahead(1'000'000 - 3600, {}, 1'000'000), std::nullopt);
  EXPECT_EQ(clock_ahead(1'000'600, {}, 1'000'000), 600);
  EXPECT_EQ(clock_ahead(1'000'000 - 4 * 86400, {}, 1'000'000), -4.0 * 86400);
}

}  // namespace
}  // namespace cupel::steps
