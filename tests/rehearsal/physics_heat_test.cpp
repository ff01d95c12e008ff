// Laws of heat: what holds whatever the constants are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rehearsal/physics/gpu_heat.h"

namespace cupel::rehearsal {
namespace {

constexpr double kLongAfter = 20 * kAirSeconds;
constexpr GpuHeat::State kCold{.celsius = 24, .memory_celsius = 27};

GpuHeat heated(double watts, double kelvin_per_watt, Drift air = {24, 0}) {
  return {kCold, {.watts = watts, .kelvin_per_watt = kelvin_per_watt, .air = air}};
}

/// What went in, what went out and what stayed, by a sum that knows nothing of exponentials.
double unbalanced_joules(const GpuHeat& heat, double kelvin_per_watt, Drift air, double seconds) {
  constexpr double kStep = 0.01;
  double out = 0;
  for (double s = 0; s < seconds; s += kStep) {
    const double middle = s + kStep / 2;
    out += (heat.at(middle).state.celsius - air.at(middle)) / kelvin_per_watt * kStep;
  }
  const double capacity = GpuHeat::kChipSeconds / kelvin_per_watt;
  const double kept = capacity * (heat.at(seconds).state.celsius - kCold.celsius);
  return heat.at(seconds).state.joules - out - kept;
}

TEST(HeatTest, SettlesWhereTheAirTakesAwayWhatComesIn) {
  const auto heat = heated(700, 0.05);

  EXPECT_NEAR(heat.at(kLongAfter).state.celsius, 24 + 700 * 0.05, 1e-9);
  EXPECT_NEAR(heat.at(GpuHeat::kChipSeconds).state.celsius, 24 + 35 * (1 - std::exp(-1)), 1e-9);
  EXPECT_FALSE(heat.at(kLongAfter).held);
}

TEST(HeatTest, LosesNoEnergy) {
  for (const auto air : {Drift{24, 0}, Drift{24, 18}, Drift{40, -16}})
    for (const double resistance : {0.05, 0.08, 0.12}) {
      const auto heat = heated(700, resistance, air);

      EXPECT_NEAR(unbalanced_joules(heat, resistance, air, 900), 0, 30)  // of 630,000
          << air.settled << " " << resistance;
    }
}

TEST(HeatTest, IsHeldWhereItMayGetNoHotterAndDrawsWhatTheAirTakesAway) {
  const auto heat = heated(700, 0.12);
  const double hot = GpuHeat::kChipSeconds * std::log((108.0 - 24) / (108 - 85));

  EXPECT_NEAR(heat.at(hot - 0.001).watts, 700, 1e-9);
  EXPECT_FALSE(heat.at(hot - 0.001).held);
  EXPECT_TRUE(heat.at(hot + 0.001).held);
  EXPECT_NEAR(heat.at(kLongAfter).watts, (85 - 24) / 0.12, 1e-9);
  for (double s = 0; s < 600; s += 0.5) EXPECT_LE(heat.at(s).state.celsius, 85 + 1e-6) << s;
}

TEST(HeatTest, IsLetGoWhenTheAirGetsCooler) {
  const GpuHeat heat{{.celsius = 85, .memory_celsius = 80},
                     {.watts = 700, .kelvin_per_watt = 0.08, .air = {24, 20}}};

  EXPECT_TRUE(heat.at(0).held);
  EXPECT_LT(heat.at(0).watts, 700);
  EXPECT_FALSE(heat.at(kLongAfter).held);
  EXPECT_NEAR(heat.at(kLongAfter).watts, 700, 1e-9);
  EXPECT_NEAR(heat.at(kLongAfter).state.celsius, 24 + 56, 1e-6);
}

TEST(HeatTest, IsHeldLateWhenTheAirGetsWarmer) {
  const auto heat = heated(700, 0.08, {44, -20});

  EXPECT_FALSE(heat.at(60).held);
  EXPECT_TRUE(heat.at(kLongAfter).held);
  EXPECT_NEAR(heat.at(kLongAfter).watts, (85 - 44) / 0.08, 1e-6);
}

TEST(HeatTest, MoreWattsAreNeverCooler) {
  for (double s = 1; s < 1000; s *= 1.5) {
    double before = 0, memory = 0;
    for (double watts = 0; watts <= 1000; watts += 50) {
      const auto now = heated(watts, 0.07).at(s).state;
      EXPECT_GE(now.celsius, before) << watts << " W after " << s << " s";
      EXPECT_GE(now.memory_celsius, memory) << watts << " W after " << s << " s";
      before = now.celsius;
      memory = now.memory_celsius;
    }
  }
}

TEST(HeatTest, FindsAPassingPeakThatIsNeitherAtTheBeginningNorAtTheEnd) {
  const Warming cools_in_the_end{24, {60, 40}, GpuHeat::kChipSeconds};

  const auto when = cools_in_the_end.reaches(90);

  ASSERT_TRUE(when);
  EXPECT_NEAR(cools_in_the_end.at(*when), 90, 1e-4);
  EXPECT_LT(cools_in_the_end.at(kLongAfter), 61);
  EXPECT_FALSE(cools_in_the_end.reaches(100));
}

}  // namespace
}  // namespace cupel::rehearsal
