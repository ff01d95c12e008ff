// A part that stands out is measured again in the same run, beside a healthy node, before it is
// called bad.
#include "orchestrator/steps/second_look.h"

#include "orchestrator/engine/event_data.h"
#include "orchestrator/steps/first_looks.h"
#include "tests/orchestrator/fleet_verdict_fixture.h"

namespace cupel::steps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Phase = engine::StepState::Phase;

class SecondLookTest : public FleetVerdict {
 protected:
  /// All nodes have come to their verdict; gpu5 of n3 has this share of what its like have.
  void measure_first(double share) {
    begin();
    measure_all("n3", {{5, share}});
    for (auto& [node, state] : state_.nodes) judge_now(node);
  }

  void judge_now(const std::string& node) { state_.nodes[node].steps[1].phase = Phase::running; }

  /// Its verdict, as the engine writes it and goes on.
  engine::StepEnd judge_and_go_on(const std::string& node) {
    auto end = judge(node, seconds{600});
    auto ended = made(EventKind::step_ended, node, "verdict");
    ended->data = end.found;
    ended->data["outcome"] = "done";
    EXPECT_TRUE(store_->append(run_, *ended));
    state_.last_sequence = ended->sequence;
    engine::apply(state_, *ended);
    return end;
  }

  /// The stage has ended on it once more, and it comes to its verdict again.
  void measure_again(const std::string& node, std::map<int, double> shares = {}) {
    measure(node, std::move(shares));
    state_.last_sequence = store_->events(run_).value().back().sequence;
    judge_now(node);
  }

  /// As measure_again(), with these findings.
  void end_stage(const std::string& node, boost::json::object findings) {
    auto ended = made(EventKind::step_ended, node, "hbm");
    ended->data = std::move(findings);
    ended->data["outcome"] = "done";
    ASSERT_TRUE(store_->append(run_, *ended));
    state_.last_sequence = ended->sequence;
    state_.nodes[node].steps[0].phase = Phase::done;
    judge_now(node);
  }

  /// Nodes that are to be measured beside n3, each of which has been sent back.
  std::vector<std::string> send_healthy_ones_back() {
    std::vector<std::string> names;
    for (const auto& node : inventory_.nodes)
      if (node.name != "n3" && judge_and_go_on(node.name).found.contains("again"))
        names.push_back(node.name);
    return names;
  }
};

TEST_F(SecondLookTest, SendsANodeWithAPartThatStandsOutBackToTheStage) {
  measure_first(0.85);

  const auto end = judge_and_go_on("n3");

  EXPECT_EQ(end.found.at("again"), boost::json::array{"hbm"});
  EXPECT_FALSE(end.found.contains("verdict"));
  EXPECT_THAT(end.detail, HasSubstr("gpu5: hbm.copy stands out: measured again (hbm) beside n"));
  const auto& steps = state_.nodes["n3"].steps;
  EXPECT_EQ(steps[0].phase, Phase::waiting);
  EXPECT_EQ(steps[1].phase, Phase::waiting);
}

TEST_F(SecondLookTest, SendsFourHealthyNodesBackWithIt) {
  measure_first(0.85);
  const auto beside =
      boost::json::value_to<std::vector<std::string>>(judge_and_go_on("n3").found.at("along_with"));

  EXPECT_THAT(beside, SizeIs(4));
  EXPECT_THAT(send_healthy_ones_back(), ::testing::UnorderedElementsAreArray(beside));
}

TEST_F(SecondLookTest, HealthyNodesWaitForTheVerdictBesideWhichTheyMayBeNeeded) {
  measure_first(0.85);
  bool sent = false;
  on_waiting_ = [&](const std::string&) {
    if (!std::exchange(sent, true)) judge_and_go_on("n3");
  };

  EXPECT_THAT(send_healthy_ones_back(), SizeIs(4));
  EXPECT_TRUE(sent);
}

TEST_F(SecondLookTest, FailsWhatStandsOutAgainWhileAHealthyNodeIsWell) {
  measure_first(0.85);
  judge_and_go_on("n3");
  for (const auto& node : send_healthy_ones_back()) measure_again(node);
  measure_again("n3", {{5, 0.85}});
  for (auto& [node, state] : state_.nodes)
    if (node != "n3") state.steps[1].phase = Phase::done;

  judge_and_go_on("n3");

  const auto verdict = recorded_of(run_, "n3");
  EXPECT_EQ(verdict.decision, burnin::Decision::fail);
  ASSERT_THAT(verdict.causes, SizeIs(1));
  EXPECT_THAT(burnin::to_string(verdict.causes[0]),
              AllOf(HasSubstr("gpu5: fleet: hbm.copy"), HasSubstr("its first look of this run"),
                    HasSubstr("was well beside it")));
}

// Of the node that stood out, of those beside it and of all others.
TEST_F(SecondLookTest, VerdictsAreMadeAgainAndAreTheSame) {
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto beside = send_healthy_ones_back();
  for (const auto& node : beside) measure_again(node);
  measure_again("n3", {{5, 0.85}});
  for (const auto& node : beside) judge_and_go_on(node);
  judge_and_go_on("n3");

  const auto all = again({});

  ASSERT_EQ(all.size(), kNodes);
  for (const auto& each : all) EXPECT_TRUE(each.is_same()) << each.node;
  EXPECT_EQ(all[3].now.decision, burnin::Decision::fail);
}

TEST_F(SecondLookTest, PassesWhatStoodOutOnceAndSaysSo) {
  measure_first(0.85);
  judge_and_go_on("n3");
  for (const auto& node : send_healthy_ones_back()) measure_again(node);
  measure_again("n3");
  for (auto& [node, state] : state_.nodes)
    if (node != "n3") state.steps[1].phase = Phase::done;

  const auto end = judge_and_go_on("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::pass);
  EXPECT_THAT(end.detail, HasSubstr("gpu5: hbm.copy stood out at first (25"));
  EXPECT_THAT(end.detail, HasSubstr("and not when it was measured again"));
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, FailsNothingWhereNoHealthyNodeWasMeasuredAgain) {
  measure_first(0.85);
  judge_and_go_on("n3");
  for (auto& [node, state] : state_.nodes)
    if (node != "n3") state.steps[1].phase = Phase::done;
  measure_again("n3", {{5, 0.85}});

  const auto end = judge_and_go_on("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
  EXPECT_THAT(end.detail, HasSubstr("and no healthy node beside it"));
  EXPECT_THAT(waited_for_, IsEmpty());
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, WaitsForTheNodesThatAreMeasuredBesideIt) {
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto beside = send_healthy_ones_back();
  measure_again("n3", {{5, 0.85}});
  on_waiting_ = [&](const std::string&) {
    for (const auto& node : beside) {
      if (state_.nodes[node].steps[0].phase != Phase::waiting) continue;
      measure_again(node);
      state_.nodes[node].steps[1].phase = Phase::done;
    }
  };

  judge_and_go_on("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::fail);
}

TEST_F(SecondLookTest, LeavesOutNodesBesideItThatAnswerNoMore) {
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto beside = send_healthy_ones_back();
  ASSERT_THAT(beside, SizeIs(4));
  measure_again("n3", {{5, 0.85}});
  for (const auto& node : beside) {
    auto& stage = state_.nodes[node].steps[0];
    stage.phase = Phase::running;
    stage.attempt = 2;
    stage.retries = 2;
  }
  waited_for_.clear();

  judge_and_go_on("n3");

  EXPECT_THAT(waited_for_, IsEmpty());
  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
}

TEST_F(SecondLookTest, IsNotTakenWhereAllOthersHaveBeenHandedOver) {
  measure_first(0.85);
  for (auto& [node, state] : state_.nodes)
    if (node != "n3") state.steps[1].phase = Phase::done;

  EXPECT_FALSE(judge("n3").found.contains("again"));
}

// Its verdict alone is made again, once other nodes have reported: by now it may have jobs.
TEST_F(SecondLookTest, IsNotTakenOfANodeThatWasHandedOver) {
  measure_first(0.85);
  planned_->push_back(planned_->back());
  planned_->back().kind = StepKind::hand_off;
  planned_->back().name = "hand-off";
  for (auto& [node, state] : state_.nodes) state.steps.resize(3);
  EXPECT_TRUE(judge("n3").found.contains("again"));

  state_.nodes["n3"].steps[2].attempt = 1;
  EXPECT_FALSE(judge("n3").found.contains("again"));

  for (auto& [node, state] : state_.nodes) state.steps[2].attempt = node == "n3" ? 0 : 1;
  EXPECT_FALSE(judge("n3").found.contains("again")) << "no other one may be measured beside it";
}

// Another verdict made of the same events is the same: what came meanwhile was not compared.
TEST_F(SecondLookTest, AHealthyNodeGoesByWhatWasReportedBeforeItWaited) {
  measure_first(0.85);
  const auto reported = state_.last_sequence = store_->events(run_).value().back().sequence;
  const auto beside =
      boost::json::value_to<std::vector<std::string>>(judge("n3").found.at("along_with"));
  ASSERT_FALSE(beside.empty());
  on_waiting_ = [this](const std::string&) {
    state_.nodes["n3"].steps[1].phase = Phase::done;  // without a second look
    ++state_.last_sequence;
  };

  const auto end = judge(beside.front(), seconds{600});

  EXPECT_THAT(waited_for_, ElementsAre("nodes that may be measured again, n3 among them"));
  EXPECT_EQ(end.found.at("basis").as_object().at("events").as_int64(), reported);
}

TEST_F(SecondLookTest, IsNotTakenOfAStageOfSeveralNodes) {
  (*planned_)[0].together = playbooks::Together::all;
  measure_first(0.85);

  EXPECT_FALSE(judge("n3").found.contains("again"));
}

TEST_F(SecondLookTest, IsForgottenOnceAPersonHadTheNodeTriedAgain) {
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto events = [this] { return store_->events(run_, "n3").value(); };
  EXPECT_TRUE(second_look_of(events()));

  auto by_itself = made(EventKind::node_retried, "n3");
  by_itself->data = {{"by", engine::kByItself}};
  ASSERT_TRUE(store_->append(run_, *by_itself));
  EXPECT_TRUE(second_look_of(events()));

  auto by_a_person = made(EventKind::node_retried, "n3");
  by_a_person->data = {{"by", "ada"}};
  ASSERT_TRUE(store_->append(run_, *by_a_person));
  EXPECT_FALSE(second_look_of(events()));
}

TEST_F(SecondLookTest, MeasuresNoNodeAgainWhereAllAreAlike) {
  measure_first(1);

  for (const auto& node : inventory_.nodes)
    EXPECT_FALSE(judge(node.name).found.contains("again")) << node.name;
  EXPECT_THAT(waited_for_, IsEmpty());
}

TEST_F(SecondLookTest, IsNotTakenWhereSomethingElseKeepsTheNodeFromPassing) {
  begin();
  measure_all("n3", {{5, 0.85}, {2, 0.5}});
  for (auto& [node, state] : state_.nodes) judge_now(node);

  EXPECT_FALSE(judge("n3").found.contains("again"));
}

TEST_F(SecondLookTest, LeavesAPartOpenWhoseStageWroteNoNumbersAgain) {
  measure_first(0.85);
  judge_and_go_on("n3");
  for (const auto& node : send_healthy_ones_back()) measure_again(node);
  end_stage("n3", {});

  const auto end = judge_and_go_on("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
  EXPECT_THAT(end.detail, HasSubstr("and was not measured again"));
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, LeavesAPartOpenThatIsMissingInTheSecondLook) {
  inventory_.profiles["one"].criteria[0].parts = {"gpu0"};
  measure_first(0.85);
  judge_and_go_on("n3");
  for (const auto& node : send_healthy_ones_back()) measure_again(node);
  burnin::Findings findings;
  findings.measurements = {{"hbm.copy", "gpu0", 3000, "GB/s"}};
  end_stage("n3", record::to_json(findings));

  const auto end = judge_and_go_on("n3");

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
  EXPECT_THAT(end.detail, HasSubstr("and was not measured again"));
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, FailsNoNodeWhereAllAreSlowerTheSecondTime) {
  inventory_.profiles["one"].criteria[0].at_least = 1000;
  std::map<int, double> slower;
  for (int i = 0; i < kGpus; ++i) slower[i] = 0.85;
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto beside = send_healthy_ones_back();
  for (const auto& node : beside) measure_again(node, slower);
  slower[5] *= 0.85;
  measure_again("n3", slower);

  const auto end = judge_and_go_on("n3");
  for (const auto& node : beside) judge_and_go_on(node);

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
  EXPECT_THAT(end.detail, HasSubstr("and no healthy node beside it"));
  for (const auto& node : beside)
    EXPECT_NE(recorded_of(run_, node).decision, burnin::Decision::fail) << node;
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, NodesThatAreBadTheSecondTimeProveNothingAndDoNotFailOfIt) {
  measure_first(0.85);
  judge_and_go_on("n3");
  const auto beside = send_healthy_ones_back();
  for (const auto& node : beside) measure_again(node, {{2, 0.5}});
  measure_again("n3", {{5, 0.85}});

  const auto end = judge_and_go_on("n3");
  for (const auto& node : beside) judge_and_go_on(node);

  EXPECT_EQ(recorded_of(run_, "n3").decision, burnin::Decision::inconclusive);
  EXPECT_THAT(end.detail, HasSubstr("and no healthy node beside it"));
  for (const auto& node : beside)
    EXPECT_EQ(recorded_of(run_, node).decision, burnin::Decision::inconclusive) << node;
  for (const auto& each : again({})) EXPECT_TRUE(each.is_same()) << each.node;
}

TEST_F(SecondLookTest, ChoosesNoNodeThatHasACauseOfItsOwn) {
  measure_first(0.85);
  for (const auto* node : {"n0", "n1", "n2", "n4"}) {
    auto failed = made(EventKind::step_ended, node, "ssh-wait");
    failed->data["outcome"] = "failed";
    ASSERT_TRUE(store_->append(run_, *failed));
  }

  const auto beside =
      boost::json::value_to<std::vector<std::string>>(judge("n3").found.at("along_with"));

  EXPECT_THAT(beside, ::testing::Not(IsEmpty()));
  EXPECT_THAT(beside, ::testing::Each(::testing::AnyOf("n5", "n6", "n7")));
}

TEST_F(SecondLookTest, MeasuresNoNodeBesideOneThatAPersonHadTriedAgain) {
  measure_first(0.85);
  judge_and_go_on("n3");
  auto by_a_person = made(EventKind::node_retried, "n3");
  by_a_person->data = {{"by", "ada"}};
  ASSERT_TRUE(store_->append(run_, *by_a_person));

  EXPECT_THAT(send_healthy_ones_back(), IsEmpty());
}

TEST(FirstLooks, TakeNoStageThatAVerdictAskedForUntilAPersonHasItTriedAgain) {
  const auto ended = [](std::string node, std::string step) {
    engine::Event event;
    event.kind = EventKind::step_ended;
    event.node = std::move(node);
    event.step = std::move(step);
    return event;
  };
  auto sent_back = ended("n3", "verdict");
  sent_back.data["again"] = boost::json::array{"hbm"};
  engine::Event retried;
  retried.kind = EventKind::node_retried;
  retried.node = "n3";
  retried.data["by"] = "ada";
  FirstLooks looks;

  EXPECT_TRUE(looks.takes(ended("n3", "hbm")));
  EXPECT_TRUE(looks.takes(sent_back));
  EXPECT_FALSE(looks.takes(ended("n3", "hbm")));
  EXPECT_TRUE(looks.takes(ended("n3", "gemm")));
  EXPECT_TRUE(looks.takes(ended("n4", "hbm")));
  EXPECT_FALSE(looks.takes(retried));
  EXPECT_TRUE(looks.takes(ended("n3", "hbm")));
}

}  // namespace
}  // namespace cupel::steps
