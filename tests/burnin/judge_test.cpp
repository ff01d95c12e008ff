#include "burnin/criteria/judge.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "burnin/verdict_text.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {
using inventory::Criterion;
using inventory::Profile;

Criterion at_least(double least, std::string unit = "GiB", std::string part = "gpu0") {
  Criterion criterion;
  criterion.stage = "gpu-facts";
  criterion.measure = "gpu.memory.total";
  criterion.parts = {std::move(part)};
  criterion.at_least = least;
  criterion.unit = std::move(unit);
  criterion.remedy = "replace the GPU";
  criterion.source = "datasheet";
  return criterion;
}

Checked judged(Criterion criterion, std::vector<Measurement> measurements) {
  Profile profile;
  profile.name = "one";
  profile.criteria = {std::move(criterion)};
  const FindingsByStage findings{{"gpu-facts", {std::move(measurements), {}, {}}}};
  return judge(profile, {"gpu-facts"}, findings).at(0);
}

Measurement memory(double value, std::string unit = "GiB") {
  return {"gpu.memory.total", "gpu0", value, std::move(unit)};
}

TEST(Judge, KeepsTheNumberAndItsLimitsOfWhatWasMet) {
  EXPECT_EQ(judged(at_least(79), {memory(79.6475)}),
            (Checked{.stage = "gpu-facts",
                     .part = "gpu0",
                     .measure = "gpu.memory.total",
                     .quantity = {79.6475, 79, std::nullopt, "GiB"},
                     .met = Met::met,
                     .source = "datasheet",
                     .criterion_id = "gpu-facts/gpu.memory.total"}));
}

TEST(Judge, NamesWhatToDoWhereTheCriterionIsNotMet) {
  EXPECT_EQ(judged(at_least(79), {memory(40)}).remedy, "replace the GPU");
  EXPECT_EQ(judged(at_least(79), {}).remedy, "replace the GPU");
}

TEST(Judge, TellsCriteriaOfOneMeasureApart) {
  Profile profile;
  profile.criteria = {at_least(79), at_least(79), at_least(60, "GiB", "gpu1")};
  profile.criteria[1].measure = "gpu.memory.free";

  const auto all = judge(profile, {"gpu-facts"}, {});

  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0].criterion_id, "gpu-facts/gpu.memory.total");
  EXPECT_EQ(all[1].criterion_id, "gpu-facts/gpu.memory.free");
  EXPECT_EQ(all[2].criterion_id, "gpu-facts/gpu.memory.total#2");
}

TEST(Judge, GivesTheMarginToTheNearerLimit) {
  auto between = at_least(2);
  between.at_most = 4;

  EXPECT_EQ(margin(judged(between, {memory(3.75)}).quantity), 0.25);
  EXPECT_EQ(margin(judged(between, {memory(2)}).quantity), 0);
  EXPECT_EQ(margin(judged(between, {memory(1.5)}).quantity), -0.5);
  EXPECT_EQ(margin(judged(at_least(79), {memory(81)}).quantity), 2);
  EXPECT_EQ(margin(judged(at_least(79), {}).quantity), std::nullopt);
  EXPECT_EQ(margin(judged(at_least(79), {memory(81, "MiB")}).quantity), std::nullopt);
}

TEST(Judge, TakesTheLimitItselfForMet) {
  auto exactly = at_least(8, "GPUs");
  exactly.at_most = 8;

  EXPECT_EQ(judged(at_least(79), {memory(79)}).met, Met::met);
  EXPECT_EQ(judged(exactly, {memory(8, "GPUs")}).met, Met::met);
  EXPECT_EQ(expectation_text(judged(exactly, {memory(8, "GPUs")})), "exactly 8 GPUs");
  EXPECT_EQ(judged(exactly, {memory(7, "GPUs")}).met, Met::failed);
  EXPECT_EQ(judged(exactly, {memory(9, "GPUs")}).met, Met::failed);
}

TEST(Judge, FailsWhatLiesOutside) {
  auto between = at_least(2);
  between.at_most = 4;

  EXPECT_EQ(judged(at_least(79), {memory(40)}).met, Met::failed);
  EXPECT_EQ(expectation_text(judged(between, {memory(4.5)})), "between 2 and 4 GiB");
  EXPECT_EQ(judged(between, {memory(4.5)}).met, Met::failed);
  EXPECT_EQ(judged(between, {memory(1.5)}).met, Met::failed);
  EXPECT_EQ(judged(between, {memory(3)}).met, Met::met);
}

TEST(Judge, MissesANumberOfAnotherPartOrName) {
  for (const auto& other : {Measurement{"gpu.memory.total", "gpu1", 80, "GiB"},
                            Measurement{"gpu.memory.total", "", 80, "GiB"},
                            Measurement{"gpu.memory", "gpu0", 80, "GiB"}}) {
    EXPECT_EQ(judged(at_least(79), {other}).met, Met::missing);
    EXPECT_EQ(measured_text(judged(at_least(79), {other})), "nothing");
  }
}

TEST(Judge, NamesThePartThatANumberOfTheWholeNodeWasTracedTo) {
  auto traced = memory(40);
  traced.part.clear();
  traced.traced_to = "dimm A7";

  const auto reported = judged(at_least(79, "GiB", ""), {traced});

  EXPECT_EQ(reported.met, Met::failed);
  EXPECT_EQ(reported.part, "dimm A7");
}

TEST(Judge, ReportsEveryNumberOfASilentStageAsMissing) {
  Profile profile;
  profile.name = "one";
  profile.criteria = {at_least(79), at_least(79)};
  profile.criteria[1].stage = "disk";

  const auto comparisons = judge(profile, {"gpu-facts"}, {});

  ASSERT_EQ(comparisons.size(), 1) << "of a stage that is not judged nothing is said";
  EXPECT_EQ(comparisons[0].met, Met::missing);
}

TEST(Judge, DoesNotCompareUnlikeUnits) {
  EXPECT_EQ(judged(at_least(79, "GiB"), {memory(81559, "MiB")}).met, Met::missing);
  EXPECT_EQ(measured_text(judged(at_least(79, "GiB"), {memory(81559, "MiB")})), "81559 MiB");
  EXPECT_EQ(expectation_text(judged(at_least(79, "GiB"), {memory(81559, "MiB")})),
            "at least 79 GiB");
  EXPECT_EQ(judged(at_least(79, ""), {memory(80, "GiB")}).met, Met::met);
  EXPECT_EQ(judged(at_least(79, "GiB"), {memory(80, "")}).met, Met::met);
}

TEST(Judge, TakesNothingButFiniteNumbersForEvidence) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double value : {std::nan(""), kInfinite, -kInfinite})
    EXPECT_EQ(judged(at_least(79), {memory(value)}).met, Met::missing);
  EXPECT_EQ(judged(at_least(std::nan("")), {memory(80)}).met, Met::failed);
}

TEST(Judge, IsNotMetByACriterionWithoutLimits) {
  auto open = at_least(79);
  open.at_least.reset();

  EXPECT_EQ(judged(open, {memory(80)}).met, Met::failed);
}

TEST(Judge, JudgesEachTimeAStageWasDone) {
  Profile profile;
  profile.name = "one";
  profile.criteria = {at_least(79)};
  const FindingsByStage findings{{"gpu-facts", {{memory(80)}, {}, {}}},
                                 {"gpu-facts@after", {{memory(40)}, {}, {}}}};

  const auto all = judge(profile, {"gpu-facts", "gpu-facts@after", "gpu-facts@never"}, findings);

  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0].met, Met::met);
  EXPECT_EQ(all[1].met, Met::failed);
  EXPECT_EQ(all[1].stage, "gpu-facts@after");
  EXPECT_EQ(all[2].met, Met::missing);
}

TEST(Judge, TellsTheWorstOfSeveral) {
  const auto worst = judged(at_least(79), {memory(80), memory(40), memory(81)});
  const auto unlike = judged(at_least(79), {memory(80), memory(81, "MiB")});
  const auto broken = judged(at_least(79), {memory(80), memory(std::nan("")), memory(10)});

  EXPECT_EQ(worst.met, Met::failed);
  EXPECT_EQ(measured_text(worst), "40 GiB");
  EXPECT_EQ(unlike.met, Met::missing) << "one that cannot be compared is not passed over";
  EXPECT_EQ(broken.met, Met::missing);
}

TEST(Judge, ShowsWhatTellsANumberFromTheLimitThatItMisses) {
  EXPECT_EQ(measured_text(judged(at_least(79), {memory(78.99999999)})), "78.99999999 GiB");
  EXPECT_EQ(measured_text(judged(at_least(1234567), {memory(1234566)})), "1234566 GiB");
  EXPECT_EQ(judged(at_least(79), {memory(5e-324)}).met, Met::failed);
}

TEST(Judge, MatchesAStarWithEveryPartThatReportedTheNumber) {
  auto dimms = at_least(0, "errors", "dimm *");
  dimms.stage = "node-facts";
  dimms.measure = "edac.corrected";
  dimms.at_least.reset();
  dimms.at_most = 10;
  Profile profile;
  profile.criteria = {dimms};
  const FindingsByStage findings{{"node-facts",
                                  {{{"edac.corrected", "", 90, "errors"},
                                    {"edac.corrected", "dimm A1", 3, "errors"},
                                    {"edac.corrected", "dimm A2", 90, "errors"},
                                    {"edac.uncorrected", "dimm A3", 90, "errors"}},
                                   {},
                                   {}}}};

  const auto found = judge(profile, {"node-facts"}, findings);

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].part, "dimm A1");
  EXPECT_EQ(found[0].met, Met::met);
  EXPECT_EQ(found[1].part, "dimm A2");
  EXPECT_EQ(found[1].met, Met::failed);
  EXPECT_TRUE(judge(profile, {"node-facts"}, {}).empty());
}

/// Of a new machine more is asked, in the readings that go by that name.
TEST(Judge, HoldsAReadingToTheCriteriaOfItsOwnNameBesideThoseOfItsStage) {
  inventory::Profile profile;
  profile.criteria = {at_least(70), at_least(79)};
  profile.criteria[1].stage += "@new";
  const auto stage = profile.criteria[0].stage;
  Findings findings;
  findings.measurements = {{profile.criteria[0].measure, "gpu0", 75, "GiB"}};

  const auto checked =
      judge(profile, {stage, stage + "@new"}, {{stage, findings}, {stage + "@new", findings}});

  std::string reported;
  for (const auto& each : checked)
    reported += each.stage + (each.met == Met::met ? " met\n" : " failed\n");
  EXPECT_EQ(reported, stage + " met\n" + stage + "@new met\n" + stage + "@new failed\n");
}

/// A profile may extend one that asks for the BMC's log: that still comes after the GPUs.
TEST(Judge, TellsWhatStagesFoundInTheOrderOfTheStages) {
  Profile profile;
  profile.criteria = {at_least(1), at_least(2), at_least(3)};
  const std::array stages{"sel", "gemm", "gpu-facts"};
  for (std::size_t i = 0; i < stages.size(); ++i) profile.criteria[i].stage = stages.at(i);

  std::string order;
  for (const auto& each : judge(profile, {"gemm@night", "gpu-facts", "sel"}, {}))
    order += each.stage + " ";

  EXPECT_EQ(order, "gpu-facts gemm@night sel ");
}

}  // namespace
}  // namespace cupel::burnin
