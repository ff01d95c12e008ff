// What was planted against what a run said of it.
#include "orchestrator/report/detection.h"

#include <gmock/gmock.h>

namespace cupel::report {
namespace {
using burnin::Cause;
using burnin::Decision;
using std::chrono::milliseconds;

NodeSummary node(Decision decision, std::vector<Cause> causes = {}) {
  NodeSummary summary;
  summary.record.node = "c01-n01";
  const auto step = [](std::string name, std::string outcome, int from, int to) {
    record::StepRecord record;
    record.name = std::move(name);
    record.outcome = std::move(outcome);
    record.began = engine::WallTime{milliseconds{from}};
    record.ended = engine::WallTime{milliseconds{to}};
    return record;
  };
  summary.record.steps = {step("bmc-facts", "done", 1000, 1500),
                          step("power-on", "done", 1500, 2000),
                          step("install", "skipped", 2000, 2000),
                          step("gpu-facts", "done", 2000, 3000), step("audit", "done", 3000, 3100)};
  summary.record.findings["gpu-facts"].measurements = {{"gpu.mig", "gpu2", 1, ""}};
  summary.decision = decision;
  summary.causes = std::move(causes);
  return summary;
}

Cause mig() { return {Decision::fail, "gpu2", "gpu.mig", "1", "at most 0"}; }

const Planted kMig{.fault = "mig-on", .node = "c01-n01", .part = "gpu2", .check = "gpu.mig"};

TEST(Detection, IsRightWhereTheFirstCauseNamesPartAndCheck) {
  const auto found = detected(kMig, node(Decision::fail, {mig()}), 60);

  EXPECT_EQ(outcome_of(found), "found");
  EXPECT_EQ(found.took, milliseconds{120'000});
  EXPECT_EQ(found.tests, 3);
}

TEST(Detection, IsFoundButNamedWrongWhereAnotherPartComesFirst) {
  const auto other = Cause{Decision::fail, "gpu3", "gpu.mig", "1", ""};

  const auto found = detected(kMig, node(Decision::fail, {other, mig()}), 1);

  EXPECT_EQ(outcome_of(found), "wrong part");
}

TEST(Detection, IsRightWhereWhatIsSaidOfThePartFollowsItsName) {
  auto planted = kMig;
  planted.part = "gpu2 *";
  auto cause = mig();
  cause.part = "gpu2 met none of its partners";
  EXPECT_EQ(outcome_of(detected(planted, node(Decision::fail, {cause}), 1)), "found");

  cause.part = "gpu23 met none of its partners";
  EXPECT_EQ(outcome_of(detected(planted, node(Decision::fail, {cause}), 1)), "wrong part");
}

TEST(Detection, IsMissedWhereTheNodePassedOrNobodyKnows) {
  EXPECT_EQ(outcome_of(detected(kMig, node(Decision::pass), 1)), "missed");
  EXPECT_EQ(outcome_of(detected(kMig, node(Decision::inconclusive, {mig()}), 1)), "missed");
}

TEST(Detection, WantsTheWordsThatTheCatalogueExpects) {
  auto planted = kMig;
  planted.like = "two";

  EXPECT_EQ(outcome_of(detected(planted, node(Decision::fail, {mig()}), 1)), "wrong part");
}

TEST(Detection, WantsTheReasonThatAnyOfTheCausesGives) {
  auto planted = kMig;
  planted.because = "the BMC restarted";
  const Cause step{Decision::inconclusive, "", "step firmware", "failed: the BMC restarted", ""};

  EXPECT_EQ(outcome_of(detected(planted, node(Decision::fail, {mig(), step}), 1)), "found");
  EXPECT_EQ(outcome_of(detected(planted, node(Decision::fail, {mig()}), 1)), "wrong part");
}

TEST(Detection, NeverCountsWhatNobodyLooksForYet) {
  auto planted = kMig;
  planted.needs = "fabric";
  const std::vector found{detected(planted, node(Decision::fail, {mig()}), 1)};

  const auto score = score_of(found, {});

  EXPECT_EQ(outcome_of(found[0]), "not looked for yet");
  EXPECT_EQ(score.not_yet, 1);
  EXPECT_EQ(score.looked_for, 0);
  EXPECT_TRUE(score.whole());
}

TEST(Score, TellsRecallPrecisionAndTheRightPart) {
  auto bearable = kMig;
  bearable.verdict = Decision::pass;
  const std::vector found{detected(kMig, node(Decision::fail, {mig()}), 1),
                          detected(kMig, node(Decision::fail, {{}}), 1),
                          detected(kMig, node(Decision::pass), 1),
                          detected(kMig, node(Decision::pass), 1),
                          detected(bearable, node(Decision::pass), 1),
                          detected(bearable, node(Decision::fail, {mig()}), 1)};
  const std::vector healthy{node(Decision::pass), node(Decision::fail, {mig()})};

  const auto score = score_of(found, healthy);

  EXPECT_EQ(score.recall(), 0.5);
  EXPECT_EQ(score.right_part(), 0.5);
  EXPECT_EQ(score.precision(), 0.5);
  EXPECT_FALSE(score.whole());
}

TEST(Score, IsNotWholeWhereOneHealthyNodeIsBlamed) {
  const std::vector found{detected(kMig, node(Decision::fail, {mig()}), 1)};

  EXPECT_TRUE(score_of(found, std::vector{node(Decision::pass)}).whole());
  EXPECT_FALSE(score_of(found, std::vector{node(Decision::inconclusive)}).whole());
}

TEST(Detection, TakesAPartThatIsReportedAsSlowForFoundWhereThatIsEnough) {
  const Planted planted{.fault = "slow",
                        .node = "c01-n01",
                        .verdict = Decision::pass,
                        .part = "gpu2",
                        .check = "fleet: hbm.copy",
                        .slow = true};
  auto one = node(Decision::pass);
  one.record.verdict.emplace();
  EXPECT_EQ(outcome_of(detected(planted, one, 1)), "missed");

  one.record.verdict->slow = {{.part = "gpu2", .measure = "hbm.copy"}};
  EXPECT_EQ(outcome_of(detected(planted, one, 1)), "found");
  EXPECT_EQ(score_of(std::vector{detected(planted, one, 1)}, {}).found, 1);

  one.record.verdict->slow[0].part = "gpu3";
  EXPECT_EQ(outcome_of(detected(planted, one, 1)), "wrong part");
}

}  // namespace
}  // namespace cupel::report
