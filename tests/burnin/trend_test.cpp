// Numbers that get worse from month to month.
#include "burnin/criteria/trend.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic_fleet.h"

namespace cupel::burnin {
namespace {

std::vector<TimedValue> months(int count, double per_month, double noise, std::uint64_t seed) {
  std::vector<TimedValue> series;
  for (int i = 0; i < count; ++i)
    series.push_back({30.0 * i, 3300 * (1 + per_month * i) *
                                    (1 + noise * fleets::normal(rehearsal::Draw{seed}.of(
                                                     static_cast<std::uint64_t>(i))))});
  return series;
}

TEST(Trend, FindsASlowDecayThatNoSingleStepShows) {
  const auto trend = trend_of(months(12, -0.003, 0.002, 1), Better::more, 1e-3, 0.01);

  EXPECT_TRUE(trend.worse);
  EXPECT_NEAR(trend.per_month, -0.003, 0.001);
  EXPECT_NEAR(trend.lost, 0.033, 0.01);
  EXPECT_FALSE(trend_of(months(12, 0.003, 0.002, 1), Better::more, 1e-3, 0.01).worse);
  EXPECT_TRUE(trend_of(months(12, 0.003, 0.002, 1), Better::less, 1e-3, 0.01).worse);
}

TEST(Trend, HasTheFalseAlarmsThatItIsAllowed) {
  constexpr int kSeries = 2000;
  constexpr double kAllowed = 0.02;
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= kSeries; ++seed)
    if (trend_of(months(10, 0, 0.02, seed), Better::more, kAllowed, 0).worse) ++alarms;

  EXPECT_LT(alarms, 1.5 * kAllowed * kSeries);
  EXPECT_GT(alarms, 0.3 * kAllowed * kSeries) << "a test that never alarms proves nothing";
}

TEST(Trend, SaysNothingOfFewMeasurementsOrAShortTime) {
  EXPECT_FALSE(trend_of(months(5, -0.1, 0, 1), Better::more, 0.05, 0).enough);
  auto short_time = months(10, -0.1, 0, 1);
  for (auto& each : short_time) each.days /= 30;
  EXPECT_FALSE(trend_of(short_time, Better::more, 0.05, 0).enough);
  EXPECT_FALSE(trend_of(months(10, -0.1, 0, 1), Better::neither, 0.05, 0).enough);
}

TEST(Trend, BearsTiesAndClocksThatJumped) {
  std::vector<TimedValue> equal(20, {0, 100});
  for (int i = 0; i < 20; ++i) equal[static_cast<std::size_t>(i)].days = 30 * i;
  EXPECT_FALSE(trend_of(equal, Better::more, 0.05, 0).worse);
  equal[3].days = std::nan("");
  equal[4].days = -1e6;
  equal[5].value = std::nan("");
  EXPECT_FALSE(trend_of(equal, Better::more, 0.05, 0).worse);
}

}  // namespace
}  // namespace cupel::burnin
