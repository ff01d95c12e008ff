// Errors as processes in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rehearsal/physics/event_count.h"

namespace cupel::rehearsal {
namespace {

TEST(EventCountTest, TellsOfTheSameErrorsInWhateverOrderItIsAsked) {
  const Draw of = Draw{7}.of("gpu5");
  std::vector<std::uint64_t> forwards, backwards;
  for (int i = 0; i <= 400; ++i) forwards.push_back(events_until(of, i * 0.173));
  for (int i = 400; i >= 0; --i) backwards.push_back(events_until(of, i * 0.173));
  std::ranges::reverse(backwards);

  EXPECT_EQ(forwards, backwards);
  EXPECT_TRUE(std::ranges::is_sorted(forwards));
  EXPECT_EQ(forwards.front(), 0);
}

TEST(EventCountTest, NeverTakesAnErrorBack) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::uint64_t before = 0;
    for (double exposure = 0.01; exposure < 1e9; exposure *= 1.07) {
      const auto now = events_until(Draw{seed}, exposure);
      EXPECT_GE(now, before) << seed << " at " << exposure;
      before = now;
    }
  }
}

TEST(EventCountTest, IsAPoissonProcess) {
  for (const double exposure : {0.3, 5.0, 77.0, 3000.0}) {
    constexpr int kDraws = 4000;
    double sum = 0, squares = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const auto count = static_cast<double>(events_until(Draw{11}.of(i), exposure));
      sum += count;
      squares += count * count;
    }
    const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;

    // Five deviations of such means: sqrt(exposure / draws).
    EXPECT_NEAR(mean, exposure, 5 * std::sqrt(exposure / kDraws));
    EXPECT_NEAR(variance / exposure, 1, 0.25) << exposure;
  }
}

TEST(EventCountTest, OneSpanSaysNothingOfTheNext) {
  constexpr int kDraws = 4000;
  double sum = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Draw of = Draw{3}.of(i);
    const double first = static_cast<double>(events_until(of, 6)) - 6;
    const double second = static_cast<double>(events_until(of, 12) - events_until(of, 6)) - 6;
    sum += first * second / 6;
  }

  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
}

TEST(ExposureTest, GrowsByTheRateOfItsTime) {
  Exposure exposure;
  exposure.rate(2, 10);
  exposure.rate(0, 15);
  exposure.rate(0.5, 100);

  EXPECT_EQ(exposure.until(5), 10);
  EXPECT_EQ(exposure.until(100), 10);
  EXPECT_EQ(exposure.until(104), 12);
}

TEST(DrawTest, DependsOnWhatIsDrawnAndOnNothingElse) {
  const Draw of{1};

  EXPECT_EQ(of.of("a").of(std::uint64_t{2}).bits(), Draw{1}.of("a").of(std::uint64_t{2}).bits());
  EXPECT_NE(of.of("a").bits(), of.of("b").bits());
  EXPECT_NE(Draw{1}.of("a").bits(), Draw{2}.of("a").bits());
  double sum = 0, squares = 0;
  constexpr int kDraws = 10000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double drawn = of.of(i).normal();
    sum += drawn;
    squares += drawn * drawn;
    EXPECT_LE(std::abs(of.of(i).spread(0.01) - 1), 0.0301);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.05);
  EXPECT_NEAR(squares / kDraws, 1, 0.06);
}

}  // namespace
}  // namespace cupel::rehearsal
