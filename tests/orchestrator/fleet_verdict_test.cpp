// Verdicts that compare nodes with each other and with their own earlier runs, and the same
// verdicts made again.
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/steps/peers.h"
#include "tests/orchestrator/fleet_verdict_fixture.h"

namespace cupel::steps {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(FleetVerdict, NamesThePartThatMeetsItsCriterionAndIsSlowerThanItsLike) {
  begin();
  measure_all("n3", {{5, 0.85}});

  const auto causes = judge_and_write("n3");
  ASSERT_EQ(causes.size(), 1);
  EXPECT_THAT(causes[0], HasSubstr("gpu5: fleet: hbm.copy 25"));
  EXPECT_THAT(causes[0], HasSubstr("7 other nodes have"));
  for (const auto* healthy : {"n0", "n1", "n2", "n4"})
    EXPECT_THAT(judge_and_write(healthy), IsEmpty());
}

TEST_F(FleetVerdict, FailsWhatStandsOutOnceItWasMeasuredAgain) {
  run_whole("n3", {{5, 0.85}});
  begin();
  measure_all("n3", {{5, 0.85}});

  const auto first = recorded_of(run_ - 1, "n3");
  EXPECT_EQ(first.decision, burnin::Decision::inconclusive);
  EXPECT_THAT(judge_and_write("n3"), ElementsAre(HasSubstr("it was so in run 1")));
  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::fail);
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(FleetVerdict, FailsNoPartForWhatStoodOutInItsPlaceBefore) {
  for (int i = 0; i < kGpus; ++i) serials_[i] = fmt::format("old{}", i);
  run_whole("n3", {{5, 0.85}});
  serials_[5] = "new";
  begin();
  measure_all("n3", {{5, 0.85}});

  judge_and_write("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
}

TEST_F(FleetVerdict, PassesWhatIsSlowAndReportsIt) {
  begin();
  measure_all("n3", {{5, 0.955}});

  const auto end = judge("n3");
  EXPECT_THAT(judge_and_write("n3"), IsEmpty());

  EXPECT_THAT(end.detail, HasSubstr("pass; slow: gpu5: hbm.copy 28"));
  const auto verdict = recorded_of(run_, "n3");
  EXPECT_EQ(verdict.decision, burnin::Decision::pass);
  ASSERT_EQ(verdict.slow.size(), 1);
  EXPECT_EQ(verdict.slow[0].part, "gpu5");
  const auto summary = report::summarize(*store_, run_);
  ASSERT_TRUE(summary);
  EXPECT_THAT(report::to_text(*summary), HasSubstr("slow, which fails nothing:\n    n3 gpu5: hbm"));
  EXPECT_THAT(report::to_markdown(*summary), HasSubstr("## Slow, which fails nothing"));
  EXPECT_THAT(report::to_html(*summary), HasSubstr("<section id=slow>"));
  const auto document = boost::json::serialize(report::to_document(*summary));
  EXPECT_THAT(document, HasSubstr(R"("slow":[{"stage":"hbm","part":"gpu5","measure":"hbm.copy")"));
}

TEST_F(FleetVerdict, NeverBlessesAFleetThatIsSlowAsAWhole) {
  begin();
  std::map<int, double> all;
  for (int i = 0; i < kGpus; ++i) all[i] = 0.8;
  for (const auto& node : inventory_.nodes) measure(node.name, all);
  for (auto& [node, state] : state_.nodes) state.steps[1].attempt = 1;

  EXPECT_THAT(judge_and_write("n0"), Contains(HasSubstr("hbm.copy 2")).Times(kGpus));
}

TEST_F(FleetVerdict, WaitsForNodesThatAreMeasuredAndNoLongerThanItsDeadlineAllows) {
  begin();
  for (int i = 0; i < kNodes - 1; ++i) {
    measure(name(i));
    state_.nodes[name(i)].steps[1].attempt = 1;
  }

  on_waiting_ = [this](const std::string&) { state_.nodes["n7"].steps[1].attempt = 1; };
  EXPECT_EQ(judge("n0", seconds{600}).outcome, Outcome::done);
  EXPECT_THAT(waited_for_, ElementsAre("other nodes that are measured, n7 among them"));
  on_waiting_ = {};
  waited_for_.clear();
  state_.nodes["n7"].steps[1].attempt = 0;
  EXPECT_EQ(judge("n0", seconds{40}).outcome, Outcome::done);
  state_.nodes["n7"].steps[0].attempt = 0;  // nothing has begun there: a canary holds it back
  for (auto& [node, state] : state_.nodes) state.steps[1].attempt = node == "n7" ? 0 : 1;
  EXPECT_EQ(judge("n0", seconds{600}).outcome, Outcome::done);
  EXPECT_THAT(waited_for_, IsEmpty());
}

TEST_F(FleetVerdict, LeavesOutANodeThatWaitsForABmcOrASystemThatDoesNotAnswer) {
  auto planned = std::make_shared<std::vector<playbooks::PlannedStep>>(*planned_);
  planned->insert(planned->begin() + 1, {.kind = StepKind::bmc_facts, .name = "bmc-facts@after"});
  planned_ = planned;
  begin();
  for (auto& [node, state] : state_.nodes) {
    measure(node);
    state.steps.resize(3);
    state.steps[1].phase = engine::StepState::Phase::done;
    state.steps[2].attempt = node == "n7" ? 0 : 1;
  }
  auto& dead = state_.nodes["n7"].steps;
  const auto waits_for_it = [this] {
    waited_for_.clear();
    EXPECT_EQ(judge("n0", seconds{600}, 2).outcome, Outcome::done);
    return !waited_for_.empty();
  };
  on_waiting_ = [&](const std::string&) { dead[2].attempt = 1; };

  dead[1] = {.phase = engine::StepState::Phase::running, .attempt = 1};
  EXPECT_TRUE(waits_for_it()) << "it reads its BMC";
  dead[2].attempt = 0;
  dead[1].retries = 1;
  EXPECT_FALSE(waits_for_it()) << "its BMC did not answer";
  dead[1] = {.phase = engine::StepState::Phase::running, .attempt = 1, .overdue = true};
  EXPECT_FALSE(waits_for_it()) << "its BMC should have answered long ago";
  dead[1] = {};
  dead[0] = {.phase = engine::StepState::Phase::running, .attempt = 1, .retries = 1};
  EXPECT_TRUE(waits_for_it()) << "a connection broke once";
  dead[2].attempt = 0;
  dead[0].retries = 2;
  EXPECT_FALSE(waits_for_it()) << "its system does not answer";
}

// Judged and handed over before there was anything to compare it with.
TEST_F(FleetVerdict, HasTheVerdictOfAnOddCanaryMadeAgainOnceAllHaveReported) {
  begin();
  for (auto& [node, state] : state_.nodes) {
    state.facts["version.driver"] =
        node == "n0" ? R"({"580":["driver"]})" : R"({"590":["driver"]})";
    state.steps[1].attempt = 1;
    state.steps[1].phase = engine::StepState::Phase::done;
    state.facts[std::string{engine::kVerdictFact}] = "pass";
  }
  on_waiting_ = [this](const std::string&) { ++state_.nodes["n0"].steps[1].attempt; };

  EXPECT_EQ(judge("n7", seconds{600}).outcome, Outcome::done);

  const auto asked = store_->commands(run_, 0).value();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, engine::Command::Kind::retry);
  EXPECT_EQ(asked[0].node + " " + asked[0].step + " " + asked[0].by, "n0 verdict cupel");
  EXPECT_THAT(waited_for_, ElementsAre("the verdict of n0, which is made again"));
  EXPECT_THAT(
      judge_and_write("n0"),
      ElementsAre(HasSubstr("driver: same version in the run 580, expected 590, as 7 of 8")));
}

TEST_F(FleetVerdict, LeavesACanaryAloneWhileOthersMayStillReport) {
  begin();
  for (auto& [node, state] : state_.nodes) {
    state.facts["version.driver"] =
        node == "n0" ? R"({"580":["driver"]})" : R"({"590":["driver"]})";
    state.steps[1].attempt = node == "n6" ? 0 : 1;
    state.steps[0].attempt = node == "n6" ? 0 : 1;
    state.facts[std::string{engine::kVerdictFact}] = "pass";
  }

  EXPECT_EQ(judge("n7", seconds{600}).outcome, Outcome::done);

  EXPECT_THAT(store_->commands(run_, 0).value(), IsEmpty());
}

TEST_F(FleetVerdict, DoesNotCompareWhereThePlaybookSaysSo) {
  begin();
  (*planned_)[1].with = {{"fleet", "no"}, {"history", "no"}};
  measure_all("n3", {{5, 0.85}});

  EXPECT_THAT(judge_and_write("n3"), IsEmpty());
}

TEST_F(FleetVerdict, SaysThatThereAreTooFewNodes) {
  inventory_.nodes.resize(4);
  begin();
  measure_all("n3", {{5, 0.9}});

  EXPECT_THAT(judge_and_write("n3"), IsEmpty());
  EXPECT_THAT(judge("n3").detail, HasSubstr("numbers not compared between nodes: 4 measured, 6"));
}

TEST_F(FleetVerdict, ComparesFewNodesWithThoseOfEarlierRuns) {
  begin();
  measure_all("", {});
  end_run();
  inventory_.nodes.resize(2);
  inventory_.nodes[1].name = "new";
  begin();
  measure_all("new", {{2, 0.85}});

  EXPECT_THAT(judge_and_write("new"), ElementsAre(HasSubstr("gpu2: fleet: hbm.copy")));
  EXPECT_THAT(judge("new").detail, HasSubstr("2 nodes of this run and 7 of earlier ones"));
}

TEST_F(FleetVerdict, LooksPastAuditsForEarlierRunsOfOtherNodes) {
  begin();
  measure_all("", {});
  end_run();
  for (int i = 0; i < 70; ++i) run_audit();
  inventory_.nodes.resize(2);
  inventory_.nodes[1].name = "new";
  begin();
  measure_all("new", {{2, 0.85}});

  EXPECT_THAT(judge_and_write("new"), ElementsAre(HasSubstr("gpu2: fleet: hbm.copy")));
}

TEST_F(FleetVerdict, LooksPastAuditsForEarlierRunsOfTheNode) {
  inventory_.nodes.resize(2);
  for (int i = 0; i < 4; ++i) run_whole();
  for (int i = 0; i < 70; ++i) run_audit();
  begin();
  measure_all("n1", {{6, 0.85}});

  EXPECT_THAT(judge_and_write("n1"), ElementsAre(HasSubstr("gpu6: history: hbm.copy")));
}

TEST_F(FleetVerdict, ComparesAReplacedPartWithNoValueOfTheFormerOne) {
  inventory_.nodes.resize(2);
  for (int i = 0; i < kGpus; ++i) serials_[i] = fmt::format("old{}", i);
  for (int i = 0; i < 4; ++i) run_whole();
  serials_[6] = "new";
  begin();
  measure_all("n1", {{5, 0.85}, {6, 0.85}});

  EXPECT_THAT(judge_and_write("n1"), ElementsAre(HasSubstr("gpu5: history: hbm.copy")));
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(FleetVerdict, ComparesAnotherMachineOfTheSameNameWithNoneOfItsValues) {
  inventory_.nodes.resize(2);
  for (int i = 0; i < 4; ++i) run_whole();
  chassis_ = "CHASSIS2";
  begin();
  measure_all("n1", {{6, 0.85}});

  EXPECT_THAT(judge_and_write("n1"), IsEmpty());
}

TEST_F(FleetVerdict, CountsNoEarlierRunThatTheNodeDidNotPass) {
  inventory_.nodes.resize(2);
  for (int i = 0; i < 4; ++i) run_whole();
  for (int i = 0; i < 13; ++i) run_whole("n1", {{3, 0.7}, {6, 0.85}});
  begin();
  measure_all("n1", {{6, 0.85}});

  EXPECT_THAT(judge_and_write("n1"), ElementsAre(HasSubstr("gpu6: history: hbm.copy")));
}

TEST_F(FleetVerdict, FindsAPartThatIsWorseThanInItsEarlierRuns) {
  inventory_.nodes.resize(2);
  for (int i = 0; i < 4; ++i) run_whole();
  begin();
  measure_all("n1", {{6, 0.85}});

  EXPECT_THAT(judge_and_write("n1"), ElementsAre(HasSubstr("gpu6: history: hbm.copy")));
  EXPECT_THAT(judge_and_write("n0"), IsEmpty());
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(FleetVerdict, IsMadeAgainOfTheRecordAndIsTheSame) {
  begin();
  measure_all("n3", {{5, 0.85}});
  for (const auto& node : inventory_.nodes) judge_and_write(node.name);

  const auto all = again({});

  ASSERT_EQ(all.size(), kNodes);
  for (const auto& each : all) EXPECT_TRUE(each.is_same()) << each.node;
  EXPECT_EQ(all[3].now.decision, burnin::Decision::inconclusive);
}

TEST_F(FleetVerdict, IsMadeAgainByTheCriteriaOfTheStepThatWasJudged) {
  planned_->insert(planned_->begin() + 1, planned_->back());
  (*planned_)[1].name = "verdict@early";
  (*planned_)[1].with = {{"fleet", "no"}, {"history", "no"}};
  begin();
  for (auto& [node, state] : state_.nodes) state.steps.resize(3);
  measure_all("n3", {{5, 0.85}});
  auto end = judge("n3", seconds{60}, 2);
  auto ended = made(EventKind::step_ended, "n3", "verdict");
  ended->data = end.found;
  ended->data["outcome"] = "done";
  ASSERT_TRUE(store_->append(run_, *ended));

  const auto all = again({});

  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].recorded.decision, burnin::Decision::inconclusive);
  EXPECT_TRUE(all[0].is_same());
}

TEST_F(FleetVerdict, ShowsWhatOtherCriteriaWouldHaveDecided) {
  begin();
  measure_all("", {});
  for (const auto& node : inventory_.nodes) judge_and_write(node.name);
  auto stricter = inventory_.profiles.at("one");
  stricter.criteria[0].at_least = 3100;

  for (const auto& each : again({.profile = stricter})) {
    EXPECT_EQ(each.recorded.decision, burnin::Decision::pass);
    EXPECT_EQ(each.now.decision, burnin::Decision::fail);
  }
  EXPECT_THAT(again({.profile = inventory::Profile{.name = "another"}}),
              Contains(::testing::Property(&Recomputed::is_same, true)).Times(kNodes));
}

TEST_F(FleetVerdict, ComparesTheFirstNodeOfACanaryWithTheWholeRunAfterwards) {
  begin();
  measure("n0", {{4, 0.85}});
  state_.nodes["n0"].steps[1].attempt = 1;
  for (int i = 1; i < kNodes; ++i) state_.nodes[name(i)].steps[0].attempt = 0;
  EXPECT_THAT(judge_and_write("n0"), IsEmpty());
  for (int i = 1; i < kNodes; ++i) measure(name(i));

  EXPECT_TRUE(again({})[0].is_same());
  EXPECT_EQ(again({.whole = true})[0].now.decision, burnin::Decision::inconclusive);
}

TEST(FleetCodec, ReadsWhatItWrote) {
  burnin::FleetSamples samples;
  for (int node = 0; node < 12; ++node) {
    burnin::Findings findings;
    for (int i = 0; i < kGpus; ++i) {
      const auto draw = rehearsal::Draw{1}.of(static_cast<std::uint64_t>(node * 8 + i));
      const double clock = 1700 * (1 + 0.02 * fleets::normal(draw));
      const auto part = fmt::format("gpu{}", i);
      findings.measurements.push_back({"gemm.bf16.rate", part, clock / 2.5, "TFLOP/s"});
      findings.measurements.push_back({"gpu.clock.sm", part, clock, "MHz"});
    }
    samples.take(fmt::format("n{}", node), "gemm", findings);
  }
  const auto reference = samples.learn({});
  const auto text = record::to_text(reference);
  const auto read = record::fleet_reference_from(text);

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(record::to_text(*read).size() / 100, text.size() / 100) << "but for last digits";
  const auto& model = read->series.begin()->second.model;
  const auto& written = reference.series.begin()->second.model;
  EXPECT_DOUBLE_EQ(model.center, written.center);
  EXPECT_DOUBLE_EQ(model.part_limit, written.part_limit);
  EXPECT_DOUBLE_EQ(model.positions.at(3), written.positions.at(3));
  EXPECT_DOUBLE_EQ(model.conditions.at(0).factor, written.conditions.at(0).factor);
  EXPECT_EQ(model.nodes, 12);
  EXPECT_EQ(read->series.begin()->second.positions, reference.series.begin()->second.positions);
  EXPECT_THAT(text, HasSubstr("conditions\":[[0"));
  EXPECT_FALSE(record::fleet_reference_from(R"({"kind":"fleet reference","format":2})"));
  EXPECT_FALSE(record::fleet_reference_from("[]"));
  EXPECT_FALSE(record::fleet_reference_from(
      R"({"kind":"fleet reference","format":1,"series":[{"stage":"hbm"}]})"));
}

}  // namespace
}  // namespace cupel::steps
