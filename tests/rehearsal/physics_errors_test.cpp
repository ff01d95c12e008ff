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

TEST(EventCountTest, KnowsWhenTheFirstCame) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Draw of = Draw{seed}.of("gpu5");
    double exposure = 1;
    while (events_until(of, exposure) == 0) exposure *= 2;

    const double first = first_event(of, exposure);

    EXPECT_GT(events_until(of, first), 0u) << seed;
    EXPECT_EQ(events_until(of, first - 1e-5), 0u) << seed;
    EXPECT_NEAR(first_event(of, 2 * exposure), first, 1e-5) << "whoever asks when";
  }
}

TEST(ExposureTest, KnowsWhenItHadComeToSoMuch) {
  Exposure exposure;
  exposure.rate(2, 10);
  exposure.rate(2, 13);  // as when a load begins, on which it does not depend

  EXPECT_EQ(exposure.moment_of(4), 12);
  EXPECT_EQ(exposure.moment_of(8), 14);
  exposure.rate(0, 15);
  EXPECT_EQ(exposure.moment_of(8), 15);
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

TEST(DrawTest, SpreadsWithTheMeanDeviationAndTailOfItsShape) {
  struct Row {
    SpreadShape shape;
    double mean, deviation;
    double least, most;  // beyond these no part is
  };
  constexpr double kNone = 6.001;
  for (const auto& [shape, mean, deviation, least, most] :
       {Row{SpreadShape::normal, 0, 1, -3.001, 3.001}, Row{SpreadShape::gamma, 0, 1, -kNone, 2.001},
        Row{SpreadShape::exponential, 0, 1, -kNone, 1.001},
        Row{SpreadShape::laplace, 0, 1, -kNone, kNone},
        Row{SpreadShape::student_t, 0, 0.98, -kNone, kNone},
        Row{SpreadShape::bimodal, -0.3, 1.39, -kNone, kNone},
        Row{SpreadShape::uniform, 0, 1, -1.733, 1.733}}) {
    const auto of = Draw{1}.shaped(shape);
    constexpr int kDraws = 20000;
    double sum = 0, squares = 0;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double away = (of.of("part").of(i).spread(0.01) - 1) / 0.01;
      sum += away;
      squares += away * away;
      EXPECT_GE(away, least) << static_cast<int>(shape);
      EXPECT_LE(away, most) << static_cast<int>(shape);
    }
    EXPECT_NEAR(sum / kDraws, mean, 0.05) << static_cast<int>(shape);
    EXPECT_NEAR(std::sqrt(squares / kDraws - sum / kDraws * (sum / kDraws)), deviation, 0.06)
        << static_cast<int>(shape);
  }
}

TEST(DrawTest, HasTheNumbersOfBeforeWhereNoShapeIsNamed) {
  const Draw of{7};

  EXPECT_EQ(of.of("hbm").spread(0.004),
            of.shaped(SpreadShape::gamma).shaped(SpreadShape::normal).of("hbm").spread(0.004));
  EXPECT_NE(of.of("hbm").spread(0.004), of.shaped(SpreadShape::gamma).of("hbm").spread(0.004));
}

}  // namespace
}  // namespace cupel::rehearsal
