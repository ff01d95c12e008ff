#include "orchestrator/engine/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "orchestrator/engine/critical_path.h"
#include "tests/orchestrator/power_site.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;
using cupel::test::plan_of;
using cupel::test::site_of;
using cupel::test::step_of;
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

  const auto reported = forecast(plan, site, without_ramp());

  EXPECT_EQ(reported.end, 1h + 1min);
  EXPECT_EQ(reported.bound(), 1h + 1min);
  EXPECT_EQ(reported.begun, 8);
  ASSERT_THAT(reported.steps, SizeIs(2));
  EXPECT_EQ(reported.steps[1].name, "soak");
  EXPECT_EQ(reported.steps[1].first_begin, 1min);
  EXPECT_EQ(reported.steps[1].last_end, 1h + 1min);
  EXPECT_EQ(reported.steps[1].most_at_once, 4);
  EXPECT_THAT(reported.never, IsEmpty());
}

TEST(Forecasting, NamesTheBreakerThatAllowsOneSoakAtATime) {
  const auto site = site_of({.nodes = 4, .breakers = 2, .breaker_watts = 14'000});
  const auto plan = plan_of(site, {step_of("look", 0, 10min), step_of("soak", 1, 4h + 40min),
                                   step_of("judge", 0, 10min)});

  const auto reported = forecast(plan, site);

  EXPECT_EQ(reported.bounds.front().what, "breaker a01/p1/b1 allows 1 soak at a time");
  EXPECT_EQ(reported.bound(), 9h + 40min);
  EXPECT_EQ(reported.end, 9h + 40min);
  EXPECT_EQ(reported.over_bound(), 1);
}

TEST(Forecasting, TellsThePowerOfEachLevelAndItsPeak) {
  const auto site = site_of({.nodes = 2, .breaker_watts = 14'000});
  const auto plan = plan_of(site, {step_of("look", 0, 1h), step_of("soak", 1, 1h)});

  const auto reported = forecast(plan, site);

  ASSERT_THAT(reported.levels, SizeIs(4));
  EXPECT_EQ(reported.levels.front().name, "hall");
  const auto& breaker = reported.levels.back();
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

    const auto reported = forecast(plan, site);

    EXPECT_EQ(reported.end, each.end);
    EXPECT_LE(reported.bound(), reported.end);
    EXPECT_THAT(reported.never, IsEmpty());
  }
}

/// When the last of these ends on so many seats, dealt in the best of all ways.
std::int64_t best_end(std::vector<std::int64_t> seats, std::span<const std::int64_t> jobs) {
  if (jobs.empty()) return std::ranges::max(seats);
  auto best = std::numeric_limits<std::int64_t>::max();
  for (auto& seat : seats) {
    seat += jobs.front();
    best = std::min(best, best_end(seats, jobs.subspan(1)));
    seat -= jobs.front();
  }
  return best;
}

TEST(Bounds, AreNeverLongerThanTheBestOfAllOrders) {
  std::mt19937 random{3};
  int reached = 0;
  for (int i = 0; i < 400; ++i) {
    const auto site = site_of({.nodes = static_cast<int>(1 + random() % 7)});
    std::vector<std::int64_t> jobs;
    auto plan = plan_of(site, {});
    const std::array lengths{60 * (1 + random() % 6), 60 * (1 + random() % 6), 1 + random() % 400};
    for (auto& node : plan.nodes) {
      jobs.push_back(static_cast<std::int64_t>(lengths[random() % (i % 2 == 0 ? 2 : 3)]));
      auto step = step_of("image", 0, std::chrono::seconds{jobs.back()});
      step.claims = {{"stream", playbooks::Claim::Scope::site, 1}};
      node.steps = std::make_shared<const std::vector<playbooks::PlannedStep>>(1, step);
    }
    const auto streams = static_cast<int>(1 + random() % 3);
    plan.limits["stream"] = streams;

    const auto reported = forecast(plan, site, without_ramp());

    const auto best = best_end(std::vector<std::int64_t>(streams, 0), jobs);
    ASSERT_LE(reported.bound().count(), best)
        << ::testing::PrintToString(jobs) << " on " << streams;
    if (reported.bound().count() == best) ++reached;
  }
  EXPECT_GT(reached, 200) << "and often they are what is possible";
}

/// No order of the last wave's pushes makes good what the waves before it take.
TEST(Forecasting, TheBoundOfWavesIsThatOfEachBehindTheOther) {
  const auto site = site_of({.racks = 4, .nodes = 18});
  auto push = step_of("push", 0, 1h);
  push.claims = {{"firmware-push", playbooks::Claim::Scope::rack, 1}};
  auto plan = plan_of(site, {push});
  plan.limits["firmware-push"] = 2;
  std::ranges::stable_partition(plan.nodes,
                                [](const auto& each) { return each.node->name.ends_with("-n01"); });
  const auto without = forecast(plan, site);
  plan.canary = {1, 3};

  const auto reported = forecast(plan, site);

  EXPECT_EQ(without.bound(), 9h);
  EXPECT_EQ(reported.end, 11h);
  EXPECT_EQ(reported.bound(), 11h);
  EXPECT_THAT(reported.bounds.front().what, HasSubstr("the canary's waves come first, then "));
  EXPECT_THAT(reported.bounds.front().what, HasSubstr("2 push at a time"));
}

TEST(Forecasting, FirmwareOf72MachinesOfNineComponentsEndsWithinATenthOfItsBound) {
  auto site = site_of({.racks = 4, .nodes = 18});
  for (int i = 0; i < 9; ++i) {
    inventory::ExpectedFirmware one{.component = fmt::format("part{}", i), .version = "2"};
    one.image =
        inventory::FirmwareImage{.file = fmt::format("x{}", i), .sha256 = std::string(64, 'a')};
    one.takes = std::chrono::seconds{300 + 60 * i};
    one.follow = {inventory::FirmwareReset::bmc_restart};
    site.profiles.at("gpu").firmware.push_back(std::move(one));
  }
  std::vector<const inventory::Node*> nodes;
  for (const auto& node : site.nodes) nodes.push_back(&node);
  std::vector<inventory::Problem> problems;
  const auto playbook = playbooks::load_playbook("firmware", problems);
  ASSERT_TRUE(playbook) << inventory::to_string(problems);
  const auto plan = playbooks::make_plan(*playbook, site, nodes, problems);
  ASSERT_TRUE(plan) << inventory::to_string(problems);

  const auto reported = forecast(*plan, site);

  EXPECT_EQ(plan->canary, (std::vector{1, 3}));
  EXPECT_GT(reported.bound(), 20h);
  EXPECT_LE(reported.over_bound(), 1.1) << reported.bounds.front().what;
}

/// Four pushes of firmware at a time in each rack, then an image from one of few streams.
playbooks::Plan firmware_then_image(const inventory::Inventory& site, int streams) {
  std::vector<playbooks::PlannedStep> steps{
      step_of("push-bmc", 0, 12min), step_of("push-bios", 0, 9min), step_of("power-cycle", 0, 8min),
      step_of("image", 0, 6min)};
  for (const int push : {0, 1}) steps[push].claims = {{"push", playbooks::Claim::Scope::rack, 1}};
  steps[3].claims = {{"stream", playbooks::Claim::Scope::site, 1}};
  auto plan = plan_of(site, steps);
  plan.limits = {{"push", 4}, {"stream", streams}};
  return plan;
}

TEST(Forecasting, FirmwareFeedsTheImageStreamsFromEarlyOn) {
  const auto site = site_of({.racks = 16, .nodes = 18});
  for (const int streams : {16, 32, 64}) {
    SCOPED_TRACE(streams);

    const auto reported = forecast(firmware_then_image(site, streams), site);

    const auto& image = *std::ranges::find(reported.steps, "image", &Forecast::Step::name);
    EXPECT_LE(image.first_begin, 40min);
    if (streams >= 32) EXPECT_LE(reported.over_bound(), 1.05);
  }
}

TEST(CriticalPath, CountsTheTurnsOfAQueueOfTheWholeSiteAndTheRacksTakeTurns) {
  const auto site = site_of({.racks = 2, .nodes = 2});
  const auto plan = firmware_then_image(site, 1);

  const auto ahead = critical_paths(plan);

  ASSERT_THAT(ahead, SizeIs(4));
  const auto turn = [&](std::size_t node) { return ahead[node]->back(); };
  EXPECT_EQ(turn(0), 24min);
  EXPECT_EQ(turn(2), 18min) << "the first of the second rack";
  EXPECT_EQ(turn(1), 12min);
  EXPECT_EQ(turn(3), 6min);
  EXPECT_EQ(ahead[0]->front(), 29min + 24min);
}

TEST(CriticalPath, IsOneListForAllNodesThatQueueForNothing) {
  const auto site = site_of({.nodes = 3});
  const auto plan = plan_of(site, {step_of("look", 0, 1min), step_of("soak", 1, 1h)});

  const auto ahead = critical_paths(plan);

  EXPECT_EQ(ahead[0], ahead[2]);
  EXPECT_THAT(*ahead[0], ElementsAre(1h + 1min, 1h));
}

TEST(Forecasting, ANodeWithoutAPartnerDoesNotDoIt) {
  const auto site = site_of({.nodes = 3});
  auto step = step_of("pair", 0, 1h);
  step.together = playbooks::Together::pairs;
  auto plan = plan_of(site, {step});
  plan.groups = {{"pair", {0, 1}}};

  const auto reported = forecast(plan, site);

  ASSERT_THAT(reported.steps, SizeIs(1));
  EXPECT_EQ(reported.steps[0].nodes, 2);
  EXPECT_EQ(reported.steps[0].skipped, 1);
}

TEST(Forecasting, SaysWhatCanNeverBegin) {
  const auto site = site_of({.nodes = 1, .breaker_watts = 8800, .idle = 2300, .loaded = 10'200});
  const auto plan = plan_of(site, {step_of("look", 0, 1h), step_of("soak", 1, 1h)});

  const auto reported = forecast(plan, site);

  ASSERT_THAT(reported.never, SizeIs(1));
  EXPECT_EQ(reported.never[0].step, "soak");
  EXPECT_THAT(reported.never[0].nodes, ElementsAre("a01-n01"));
  EXPECT_EQ(reported.never[0].why, "a01-n01 needs 10.2 kW, breaker a01/p1/b1 carries 8.8 kW");
}

}  // namespace
}  // namespace cupel::engine
