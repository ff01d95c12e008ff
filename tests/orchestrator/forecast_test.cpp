#include "orchestrator/engine/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/orchestrator/power_site.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;
using test::plan_of;
using test::site_of;
using test::step_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Limits without_ramp() {
  Limits limits;
  limits.ramp = 0s;
  return limits;
}

TEST(Forecasting, NodesThatNothingHoldsBackDoTheirStepsSideBySide) {
  const auto site = site_of({.nodes = 4});
  const auto plan = plan_of(site, {step_of("look", 0, 1min), step_of("soak", 1, 1h)});

  const auto told = forecast(plan, site, without_ramp());

  EXPECT_EQ(told.end, 1h + 1min);
  EXPECT_EQ(told.bound(), 1h + 1min);
  EXPECT_EQ(told.begun, 8);
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[1].name, "soak");
  EXPECT_EQ(told.steps[1].first_begin, 1min);
  EXPECT_EQ(told.steps[1].last_end, 1h + 1min);
  EXPECT_EQ(told.steps[1].most_at_once, 4);
  EXPECT_THAT(told.never, IsEmpty());
}

TEST(Forecasting, NamesTheBreakerThatAllowsOneSoakAtATime) {
  const auto site = site_of({.nodes = 4, .breakers = 2, .breaker_watts = 14'000});
  const auto plan = plan_of(site, {step_of("look", 0, 10min), step_of("soak", 1, 4h + 40min),
                                   step_of("judge", 0, 10min)});

  const auto told = forecast(plan, site);

  EXPECT_EQ(told.bounds.front().what, "breaker a01/p1/b1 allows 1 soak at a time");
  EXPECT_EQ(told.bound(), 9h + 40min);
  EXPECT_EQ(told.end, 9h + 40min);
  EXPECT_EQ(told.over_bound(), 1);
}

TEST(Forecasting, TellsThePowerOfEachLevelAndItsPeak) {
  const auto site = site_of({.nodes = 2, .breaker_watts = 14'000});
  const auto plan = plan_of(site, {step_of("look", 0, 1h), step_of("soak", 1, 1h)});

  const auto told = forecast(plan, site);

  ASSERT_THAT(told.levels, SizeIs(4));
  EXPECT_EQ(told.levels.front().name, "hall");
  const auto& breaker = told.levels.back();
  EXPECT_EQ(breaker.name, "a01/p1/b1");
  EXPECT_EQ(breaker.limit_watts, 14'000);
  EXPECT_EQ(breaker.idle_watts, 4000);
  EXPECT_EQ(breaker.peak_watts, 12'000);
  ASSERT_THAT(breaker.watts, SizeIs(Forecast::kSamples));
  EXPECT_EQ(breaker.watts.front(), 4000);
  EXPECT_EQ(breaker.watts[Forecast::kSamples / 2], 12'000);
}

TEST(Forecasting, GroupsClaimsNodesAtOnceAndTheCanaryAreCounted) {
  struct Case {
    const char* what;
    std::function<void(playbooks::Plan&)> change;
    std::chrono::seconds end;
  };
  const auto together = [](playbooks::Plan& plan) {
    auto steps = *plan.nodes[0].steps;
    steps[1].together = playbooks::Together::pairs;
    const auto shared = std::make_shared<const std::vector<playbooks::PlannedStep>>(steps);
    for (auto& node : plan.nodes) node.steps = shared;
    plan.groups = {{"test", {0, 1}}, {"test", {2, 3}}};
  };
  const auto claims = [](playbooks::Plan& plan) {
    auto steps = *plan.nodes[0].steps;
    steps[1].claims = {{"push", playbooks::Claim::Scope::rack, 1}};
    const auto shared = std::make_shared<const std::vector<playbooks::PlannedStep>>(steps);
    for (auto& node : plan.nodes) node.steps = shared;
    plan.limits["push"] = 1;
  };
  const std::vector<Case> cases{
      {"nothing", [](auto&) {}, 70min},
      {"pairs", together, 70min},
      {"pairs, three at once: the first waits for room",
       [&](auto& plan) {
         together(plan);
         plan.nodes_at_once = 3;
       },
       80min},
      {"claims", claims, 10min + 4 * 60min},
      {"two at once", [](auto& plan) { plan.nodes_at_once = 2; }, 140min},
      {"canary", [](auto& plan) { plan.canary = {1, 1}; }, 210min},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const auto site = site_of({.nodes = 4});
    auto plan = plan_of(site, {step_of("look", 0, 10min), step_of("test", 0, 1h)});
    each.change(plan);

    const auto told = forecast(plan, site);

    EXPECT_EQ(told.end, each.end);
    EXPECT_LE(told.bound(), told.end);
    EXPECT_THAT(told.never, IsEmpty());
  }
}

TEST(Forecasting, ANodeWithoutAPartnerDoesNotDoIt) {
  const auto site = site_of({.nodes = 3});
  auto step = step_of("pair", 0, 1h);
  step.together = playbooks::Together::pairs;
  auto plan = plan_of(site, {step});
  plan.groups = {{"pair", {0, 1}}};

  const auto told = forecast(plan, site);

  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].nodes, 2);
  EXPECT_EQ(told.steps[0].skipped, 1);
}

TEST(Forecasting, SaysWhatCanNeverBegin) {
  const auto site = site_of({.nodes = 1, .breaker_watts = 8800, .idle = 2300, .loaded = 10'200});
  const auto plan = plan_of(site, {step_of("look", 0, 1h), step_of("soak", 1, 1h)});

  const auto told = forecast(plan, site);

  ASSERT_THAT(told.never, SizeIs(1));
  EXPECT_EQ(told.never[0].step, "soak");
  EXPECT_THAT(told.never[0].nodes, ElementsAre("a01-n01"));
  EXPECT_EQ(told.never[0].why, "a01-n01 needs 10.2 kW, breaker a01/p1/b1 carries 8.8 kW");
}

}  // namespace
}  // namespace cupel::engine
