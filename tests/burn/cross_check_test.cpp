#include "burnin/agent/burn/cross_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupel::burn {
namespace {

TEST(CrossCheck, NamesTheGpuThatDiffersOnceAllHaveReported) {
  CrossCheck cross_check{3};

  EXPECT_TRUE(cross_check.tell("bf16 round 1", 1, "gpu0", 5).empty());
  EXPECT_TRUE(cross_check.tell("bf16 round 1", 1, "gpu1", 6).empty());
  const auto odd = cross_check.tell("bf16 round 1", 1, "gpu2", 5);

  ASSERT_EQ(odd.size(), 1);
  EXPECT_EQ(odd[0].part, "gpu1");
  EXPECT_EQ(cross_check.odd("gpu1"), 1);
  EXPECT_TRUE(cross_check.rest().empty());
}

TEST(CrossCheck, NamesNoneOfTwoThatDiffer) {
  CrossCheck cross_check{2};
  cross_check.tell("step 1", 1, "gpu0", 5);

  const auto odd = cross_check.tell("step 1", 1, "gpu1", 6);

  ASSERT_EQ(odd.size(), 1);
  EXPECT_EQ(odd[0].part, "");
}

TEST(CrossCheck, ComparesAtTheEndWhatNotAllReported) {
  CrossCheck cross_check{4};
  cross_check.tell("step 9", 9, "gpu0", 5);
  cross_check.tell("step 9", 9, "gpu1", 5);
  cross_check.tell("step 9", 9, "gpu2", 7);

  const auto odd = cross_check.rest();

  ASSERT_EQ(odd.size(), 1);
  EXPECT_EQ(odd[0].part, "gpu2");
}

/// Three GPUs go through rounds as fast as each can; gpu2 is wrong in the last tenth. How often
/// each was named, and in which round first.
struct Drifted {
  std::map<std::string, int> named{};
  std::uint64_t first = 0;
};

Drifted drift(double slow, std::uint64_t rounds) {
  CrossCheck cross_check{3};
  Drifted drifted;
  std::array<std::uint64_t, 3> at{};
  const std::array speed{1.0, 1.0 - slow, 1.0};
  for (std::uint64_t time = 1; at[1] < rounds; ++time)
    for (std::size_t gpu = 0; gpu < 3; ++gpu) {
      const auto due = static_cast<std::uint64_t>(static_cast<double>(time) * speed[gpu]);
      if (at[gpu] >= due) continue;
      const auto round = ++at[gpu];
      const bool is_wrong = gpu == 2 && round > rounds / 10 * 9;
      for (const auto& odd : cross_check.tell("bf16 round " + std::to_string(round), round,
                                              "gpu" + std::to_string(gpu), is_wrong ? 6 : 5)) {
        if (drifted.named.empty()) drifted.first = round;
        ++drifted.named[odd.part];
      }
    }
  return drifted;
}

TEST(CrossCheck, GoesOnComparingHoweverFarGpusDriftApart) {
  const auto drifted = drift(0.4, 40'000);  // 26,000 rounds apart in the end

  ASSERT_EQ(drifted.named.size(), 1);
  EXPECT_GT(drifted.named.at("gpu2"), 400);  // of 4,000, each eighth is compared
  EXPECT_LE(drifted.first, 36'000 + 8);
}

TEST(CrossCheck, ComparesEachRoundWhereGpusStayTogether) {
  EXPECT_EQ(drift(0.05, 20'000).named.at("gpu2"), 2'000);
}

TEST(CrossCheck, DoesNotWaitForAGpuThatLeft) {
  CrossCheck cross_check{4};
  cross_check.tell("fp8 round 1", 1, "gpu0", 5);
  cross_check.tell("fp8 round 1", 1, "gpu1", 5);
  cross_check.tell("fp8 round 1", 1, "gpu2", 7);

  const auto waited = cross_check.leave("gpu3");
  cross_check.tell("fp8 round 2", 2, "gpu0", 5);
  cross_check.tell("fp8 round 2", 2, "gpu1", 5);
  const auto later = cross_check.tell("fp8 round 2", 2, "gpu2", 6);

  ASSERT_EQ(waited.size(), 1);
  EXPECT_EQ(waited[0].part, "gpu2");
  ASSERT_EQ(later.size(), 1);
  EXPECT_EQ(later[0].part, "gpu2");
  EXPECT_TRUE(cross_check.leave("gpu3").empty());
  EXPECT_TRUE(cross_check.rest().empty());
}

}  // namespace
}  // namespace cupel::burn
