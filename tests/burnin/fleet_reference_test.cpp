// One machine beside the others of a run, and beside its own earlier runs.
#include "burnin/criteria/fleet_reference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/criteria/compared_causes.h"
#include "burnin/criteria/own_history.h"
#include "burnin/verdict_text.h"
#include "tests/support/synthetic_fleet.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// hbm.copy of eight GPUs, and what else the stage says.
Findings hbm(std::uint64_t node, std::map<int, double> slow = {}) {
  Findings findings;
  for (int i = 0; i < 8; ++i) {
    const auto draw = rehearsal::Draw{7}.of(node).of(static_cast<std::uint64_t>(i));
    const double share = slow.contains(i) ? slow.at(i) : 1;
    findings.measurements.push_back({"hbm.copy", fmt::format("gpu{}", i),
                                     3000 * share * (1 + 0.003 * fleets::normal(draw)), "GB/s"});
    findings.measurements.push_back({"hbm.errors", fmt::format("gpu{}", i), 0, "errors"});
  }
  return findings;
}

FleetSamples fleet(int nodes) {
  FleetSamples samples;
  for (int i = 0; i < nodes; ++i)
    samples.take(fmt::format("n{}", i), "hbm", hbm(static_cast<std::uint64_t>(i)));
  return samples;
}

TEST(FleetReference, NamesTheSlowPartWithItsNumberAndHowManyItWasComparedWith) {
  auto samples = fleet(15);
  const auto slow = hbm(99, {{2, 0.85}});
  samples.take("slow", "hbm", slow);

  const auto causes = causes_of(compare(samples.learn({}), {{"hbm", slow}}));

  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].part, "gpu2");
  EXPECT_EQ(causes[0].criterion, "fleet: hbm.copy");
  EXPECT_EQ(causes[0].decision, Decision::inconclusive) << "it was measured once";
  EXPECT_TRUE(is_to_be_repeated(causes[0]));
  EXPECT_LT(*causes[0].quantity.value, *causes[0].quantity.at_least);
  EXPECT_THAT(to_string(causes[0]), HasSubstr("15 other nodes have 2998.4 there (spread 0."));
}

TEST(FleetReference, ShowsOnlyTheNearestToItsLimitOfPartsThatAreAlike) {
  const auto compared = compare(fleet(16).learn({}), {{"hbm", hbm(3)}});

  ASSERT_THAT(compared, SizeIs(1));
  EXPECT_EQ(compared[0].found, Likeness::alike);
  EXPECT_GT(margin(compared[0]), 0);
  EXPECT_THAT(compare(fleet(16).learn({}), {{"hbm", hbm(3)}}, true), SizeIs(8));
}

TEST(FleetReference, JudgesNothingOfTooFewNodesAndNothingOfAnotherUnit) {
  EXPECT_THAT(fleet(5).learn({}).series, IsEmpty());
  auto other = hbm(3);
  for (auto& each : other.measurements) each.unit = "GiB/s";
  EXPECT_THAT(compare(fleet(16).learn({}), {{"hbm", other}}), IsEmpty());
}

TEST(FleetReference, TakesTheNewestOfAStageThatWasDoneAgain) {
  auto samples = fleet(15);
  samples.take("n0", "hbm", hbm(0, {{1, 0.5}}));
  samples.take("n0", "hbm", hbm(0));

  EXPECT_EQ(samples.nodes(), 15);
  EXPECT_LT(samples.learn({}).series.begin()->second.model.spread, 0.005);
}

TEST(FleetReference, SaysThatAHalfSlowFleetIsNotJudged) {
  FleetSamples samples;
  for (std::uint64_t i = 0; i < 16; ++i) {
    std::map<int, double> slow;
    if (i % 2 == 0)
      for (int gpu = 0; gpu < 8; ++gpu) slow[gpu] = 0.9;
    samples.take(fmt::format("n{}", i), "hbm", hbm(i, slow));
  }
  std::map<int, double> all;
  for (int gpu = 0; gpu < 8; ++gpu) all[gpu] = 0.9;

  const auto causes = causes_of(compare(samples.learn({}), {{"hbm", hbm(0, all)}}));

  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].decision, Decision::inconclusive);
  EXPECT_THAT(to_string(causes[0]), HasSubstr("two groups"));
  EXPECT_THAT(causes_of(compare(samples.learn({}), {{"hbm", hbm(1)}})), IsEmpty());
}

TEST(FleetReference, DoesNotJudgeAClockThatStandsAStepBesideTheOthers) {
  const auto clocks = [](std::uint64_t node, double last) {
    auto findings = hbm(node);
    for (int i = 0; i < 8; ++i)
      findings.measurements.push_back(
          {"gpu.clock.sm", fmt::format("gpu{}", i), i == 7 ? last : 1980, "MHz"});
    return findings;
  };
  FleetSamples samples;
  for (std::uint64_t i = 0; i < 15; ++i)
    samples.take(fmt::format("n{}", i), "hbm", clocks(i, 1980));

  const auto compared = compare(samples.learn({}), {{"hbm", clocks(99, 1965)}}, true);

  EXPECT_THAT(compared, SizeIs(8)) << "hbm.copy of each";
  EXPECT_THAT(causes_of(compared), IsEmpty());
}

TEST(FleetReference, BoundsWhatItKeeps) {
  FleetSamples samples;
  for (int i = 0; i < 1030; ++i) samples.take(fmt::format("n{}", i), "hbm", hbm(1));
  EXPECT_EQ(samples.learn({}).series.begin()->second.model.nodes, 1024);
}

TEST(FleetReference, LearnsTheSameAtOnceAndAgainAndAgain) {
  FleetSamples once, often;
  const Findings inlet{.measurements = {{"thermal.inlet", "", 31, "C"}}};
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto node = fmt::format("n{}", i);
    for (auto* samples : {&once, &often}) samples->take(node, "hbm", hbm(i));
    if (often.learn({}).nodes != i + 1) ADD_FAILURE() << i;
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto warm = inlet;
    warm.measurements[0].value += static_cast<double>(i);
    for (auto* samples : {&once, &often}) samples->take(fmt::format("n{}", i), "thermal", warm);
  }

  const auto at_once = once.learn({}).series.begin()->second.model;
  const auto again = often.learn({}).series.begin()->second.model;
  const auto by_chance = often.learn({.least_effect = 0}).series.begin()->second.model;
  const auto stricter =
      often.learn({.false_alarms = 1e-6, .least_effect = 0}).series.begin()->second.model;

  EXPECT_EQ(again.center, at_once.center);
  EXPECT_EQ(again.spread, at_once.spread);
  EXPECT_EQ(again.positions, at_once.positions);
  EXPECT_EQ(again.conditions.size(), at_once.conditions.size());
  EXPECT_EQ(again.members, 160);
  EXPECT_GT(stricter.part_limit, by_chance.part_limit);
  EXPECT_GT(again.part_limit, by_chance.part_limit);
}

TEST(ComparedCauses, APartExplainsItsPairsAndWhatTheNodeDoes) {
  const auto one = [](std::string measure, std::string part, double value) {
    return Compared{.stage = "p2p",
                    .part = std::move(part),
                    .measure = std::move(measure),
                    .unit = "GB/s",
                    .found = Likeness::outlier,
                    .value = value,
                    .expected = 400,
                    .limit = 390,
                    .spread = 0.005,
                    .others = 15,
                    .again = "run 3"};
  };
  auto causes = causes_of({one("p2p.bandwidth", "gpu0-gpu2", 350), one("hbm.copy", "gpu2", 300),
                           one("p2p.bandwidth", "gpu2-gpu5", 350), one("train.tokens", "", 380)});
  put_below_known(causes);

  std::vector<std::string> words;
  for (const auto& each : causes)
    words.push_back(each.part + " " + each.criterion + " < " + each.consequence_of);
  EXPECT_THAT(words, ElementsAre("gpu2 fleet: hbm.copy < ",
                                 "gpu2 fleet: p2p.bandwidth < gpu2: fleet: hbm.copy",
                                 " fleet: train.tokens < gpu2: fleet: hbm.copy"));
}

TEST(ComparedCauses, WhatStandsOutFailsOnceItStoodOutBefore) {
  const Compared out{.stage = "hbm",
                     .part = "gpu2",
                     .measure = "hbm.copy",
                     .unit = "GB/s",
                     .found = Likeness::outlier,
                     .value = 2500,
                     .expected = 3000,
                     .limit = 2800,
                     .spread = 0.005,
                     .others = 15};
  auto other = out;
  other.stage = "hbm@after";
  other.value = 2600;
  other.expected = 2990;
  auto neighbour = other;
  neighbour.part = "gpu3";
  std::vector<Compared> once{out, neighbour}, twice{out, other}, later{out};

  mark_repeated(once, {}, {});
  mark_repeated(twice, {}, {});
  mark_repeated(later, std::vector{other}, "run 7");

  for (const auto& each : causes_of(once)) EXPECT_EQ(each.decision, Decision::inconclusive);
  EXPECT_EQ(causes_of(twice).front().decision, Decision::fail);
  const auto failed = causes_of(later).front();
  EXPECT_EQ(failed.decision, Decision::fail);
  EXPECT_FALSE(is_to_be_repeated(failed));
  EXPECT_THAT(to_string(failed),
              HasSubstr("it was so in run 7 (2600 GB/s, where 2990 was expected)"))
      << "both looks, each with its control";
}

TEST(ComparedCauses, WhatIsSlowIsNoCauseAndIsRankedByHowFarItIsBehind) {
  const auto slow = [](std::string part, double value) {
    return Compared{.stage = "hbm",
                    .part = std::move(part),
                    .measure = "hbm.copy",
                    .unit = "GB/s",
                    .found = Likeness::slow,
                    .value = value,
                    .expected = 3000,
                    .limit = 2970,
                    .spread = 0.005,
                    .others = 15};
  };
  auto alike = slow("gpu7", 2990);
  alike.found = Likeness::alike;
  const std::vector all{slow("gpu1", 2940), alike, slow("gpu4", 2880)};

  EXPECT_THAT(causes_of(all), IsEmpty());
  const auto ranked = slow_ones(all);
  ASSERT_THAT(ranked, SizeIs(2));
  EXPECT_EQ(slow_text(ranked[0]), "gpu4: hbm.copy 2880 GB/s, 4 % behind what 15 other nodes have");
  EXPECT_EQ(ranked[1].part, "gpu1");
}

TEST(ComparedCauses, ACriterionThatFailsOfTheSameNumberSaysItAll) {
  Cause known;
  known.part = "gpu2";
  known.criterion = "hbm.copy";
  Compared same{.stage = "hbm",
                .part = "gpu2",
                .measure = "hbm.copy",
                .found = Likeness::outlier,
                .expected = 1,
                .spread = 1};
  std::vector<Cause> causes{known};
  for (auto& each : causes_of({same})) causes.push_back(each);
  put_below_known(causes);

  EXPECT_THAT(causes, ElementsAre(known));
}

std::vector<EarlierValue> earlier(int runs, double per_run = 0) {
  std::vector<EarlierValue> values;
  for (int run = 1; run <= runs; ++run)
    for (const auto& each : hbm(static_cast<std::uint64_t>(run + 1000)).measurements)
      values.push_back({.run = run,
                        .days = 30.0 * run,
                        .stage = "hbm",
                        .part = each.part,
                        .measure = each.name,
                        .unit = each.unit,
                        .value = each.value * (each.part == "gpu5" ? 1 + per_run * run : 1)});
  return values;
}

TEST(OwnHistory, FindsAPartThatIsWorseThanItWas) {
  const auto compared = compare_with_history(earlier(4), {{"hbm", hbm(5, {{3, 0.9}})}}, 150, {});

  const auto causes = causes_of(compared);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].part, "gpu3");
  EXPECT_EQ(causes[0].criterion, "history: hbm.copy");
  EXPECT_THAT(to_string(causes[0]), HasSubstr("in 4 earlier runs"));
}

TEST(OwnHistory, IsSilentWhereNothingChangedOrLittleIsKnown) {
  const FindingsByStage now{{"hbm", hbm(5)}};
  const auto same = compare_with_history(earlier(4), now, 150, {});
  EXPECT_THAT(causes_of(same), IsEmpty());
  EXPECT_THAT(slow_ones(same), IsEmpty());
  const FindingsByStage slow{{"hbm", hbm(5, {{3, 0.9}})}};
  EXPECT_THAT(compare_with_history(earlier(2), slow, 150, {}), IsEmpty());
  EXPECT_THAT(compare_with_history({}, slow, 150, {}), IsEmpty());
}

TEST(OwnHistory, ReportsWhatIsALittleWorseAndFailsNothing) {
  const auto all = compare_with_history(earlier(4), {{"hbm", hbm(5, {{3, 0.96}})}}, 150, {});

  EXPECT_THAT(causes_of(all), IsEmpty());
  ASSERT_THAT(slow_ones(all), SizeIs(1));
  EXPECT_EQ(slow_ones(all)[0].part, "gpu3");
}

/// A node's runs with noise of this shape, and what all of a run have in common.
struct NoisyRuns {
  int runs = 3;
  double noise = 0.02;
  fleets::Shape shape = fleets::Shape::normal;
  double common = 0;
};

std::vector<Compared> noisy(const NoisyRuns& of, std::uint64_t node) {
  std::vector<EarlierValue> before;
  FindingsByStage now;
  for (int run = 1; run <= of.runs + 1; ++run) {
    const auto draw = rehearsal::Draw{node}.of(static_cast<std::uint64_t>(run));
    const double shift = 1 + of.common * fleets::normal(draw.of("shift"));
    for (int gpu = 0; gpu < 8; ++gpu) {
      const double share =
          1 + of.noise * fleets::shaped(draw.of(static_cast<std::uint64_t>(gpu)), of.shape);
      const auto part = fmt::format("gpu{}", gpu);
      if (run > of.runs)
        now["hbm"].measurements.push_back({"hbm.copy", part, 3000 * shift * share, "GB/s"});
      else
        before.push_back({.run = run,
                          .days = 30.0 * run,
                          .stage = "hbm",
                          .part = part,
                          .measure = "hbm.copy",
                          .unit = "GB/s",
                          .value = 3000 * shift * share});
    }
  }
  return compare_with_history(before, now, 30.0 * (of.runs + 1), {});
}

TEST(OwnHistory, LetsNoHealthyNodeStandOutForTheNoiseOfItsRuns) {
  using fleets::Shape;
  for (const int runs : {3, 5, 10})
    for (const double noise : {0.005, 0.02})
      for (const auto shape : {Shape::normal, Shape::exponential})
        for (const double common : {0.0, 0.02})
          for (std::uint64_t node = 1; node <= 40; ++node)
            EXPECT_THAT(causes_of(noisy({runs, noise, shape, common}, node)), IsEmpty())
                << runs << " runs, noise " << noise << ", shape " << static_cast<int>(shape)
                << ", common " << common << ", node " << node;
}

TEST(OwnHistory, TakesOutWhatAllPartsOfARunHaveInCommon) {
  std::map<int, double> all;
  for (int gpu = 0; gpu < 8; ++gpu) all[gpu] = 0.97;
  auto one = all;
  one[3] *= 0.9;

  const auto causes = causes_of(compare_with_history(earlier(4), {{"hbm", hbm(5, one)}}, 150, {}));

  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].part, "gpu3");
}

TEST(OwnHistory, ReportsAMachineThatIsSlowerAsAWhole) {
  std::map<int, double> all;
  for (int gpu = 0; gpu < 8; ++gpu) all[gpu] = 0.9;

  const auto found = compare_with_history(earlier(4), {{"hbm", hbm(5, all)}}, 150, {});

  EXPECT_THAT(slow_ones(found), SizeIs(8));
  EXPECT_THAT(causes_of(found), IsEmpty()) << "of four runs it is not known how far they lie apart";
}

TEST(OwnHistory, ReportsASlowDecayAndFailsOneThatIsLarge) {
  const auto decayed = [](double per_run) {
    const FindingsByStage now{{"hbm", hbm(5, {{5, 1 + per_run * 12}})}};
    return compare_with_history(earlier(11, per_run), now, 360, {});
  };

  const auto small = decayed(-0.002);
  EXPECT_THAT(causes_of(small), IsEmpty());
  ASSERT_THAT(slow_ones(small), SizeIs(1));
  EXPECT_EQ(slow_ones(small)[0].part, "gpu5");
  EXPECT_EQ(slow_ones(small)[0].against, Against::trend);
  const auto causes = causes_of(decayed(-0.006));
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].part, "gpu5");
  EXPECT_EQ(causes[0].decision, Decision::fail);
}

}  // namespace
}  // namespace cupel::burnin
