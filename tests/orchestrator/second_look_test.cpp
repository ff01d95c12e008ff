// A part that stands out is measured again in the same run, beside a healthy node, before it is
// called bad.
#include "orchestrator/steps/second_look.h"

#include "orchestrator/engine/event_data.h"
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

TEST_F(SecondLookTest, SendsTwoHealthyNodesBackWithIt) {
  measure_first(0.85);
  const auto beside =
      boost::json::value_to<std::vector<std::string>>(judge_and_go_on("n3").found.at("along_with"));

  EXPECT_THAT(beside, SizeIs(2));
  EXPECT_THAT(send_healthy_ones_back(), ::testing::UnorderedElementsAreArray(beside));
}

TEST_F(SecondLookTest, HealthyNodesWaitForTheVerdictBesideWhichTheyMayBeNeeded) {
  measure_first(0.85);
  bool sent = false;
  on_waiting_ = [&](const std::string&) {
    if (!std::exchange(sent, true)) judge_and_go_on("n3");
  };

  EXPECT_THAT(send_healthy_ones_back(), SizeIs(2));
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

burnin::Compared outlier(double value) {
  burnin::Compared compared;
  compared.stage = "hbm";
  compared.part = "gpu5";
  compared.measure = "hbm.copy";
  compared.found = burnin::Likeness::outlier;
  compared.value = value;
  compared.expected = 3000;
  compared.limit = 2800;
  return compared;
}

/// Of a healthy node that was measured, sent back and measured again.
std::vector<engine::Event> measured_twice(double first, double second) {
  const auto measured = [](double rate) {
    burnin::Findings findings;
    for (const auto* part : {"gpu0", "gpu5"})
      findings.measurements.push_back({"hbm.copy", part, rate, "GB/s"});
    engine::Event event;
    event.kind = EventKind::step_ended;
    event.step = "hbm";
    event.data = record::to_json(findings);
    return event;
  };
  engine::Event sent_back;
  sent_back.kind = EventKind::step_ended;
  sent_back.step = "verdict";
  sent_back.data["again"] = boost::json::array{"hbm"};
  return {measured(first), sent_back, measured(second)};
}

struct Held {
  burnin::Likeness found{};
  std::string again{};
  std::vector<std::string> said{};
};

/// What became of a part that had 2500 GB/s at first, and this now.
Held held(double now, const std::vector<engine::Event>& beside) {
  const SecondLook look{{"hbm"}, {"n7"}, {outlier(2500)}};
  std::vector compared{outlier(now)};
  const auto said = hold_against_first_look(
      look, [&](const std::string&) { return Result<std::vector<engine::Event>>{beside}; },
      compared);
  EXPECT_TRUE(said);
  return {compared[0].found, compared[0].again, said.value_or(std::vector<std::string>{})};
}

// The room is warm by now, and slows all of them down.
TEST(SecondLook, HoldsNothingAgainstAPartThatAHealthyNodeLostToo) {
  const auto warm = held(2600, measured_twice(3000, 2700));

  EXPECT_EQ(warm.found, burnin::Likeness::slow);
  EXPECT_EQ(warm.again, "");
  EXPECT_THAT(warm.said, ElementsAre(HasSubstr("n7 beside it was 10 % worse than before")));

  const auto bad = held(2500, measured_twice(3000, 2700));
  EXPECT_EQ(bad.found, burnin::Likeness::outlier) << "worse than that";
  EXPECT_THAT(bad.again, HasSubstr("its first look of this run, and n7 was well beside it"));
}

TEST(SecondLook, AccusesNoPartSinceAHealthyNodeWasFasterThanBefore) {
  EXPECT_THAT(held(2790, measured_twice(3000, 3300)).again, HasSubstr("(2500, where 3000"));
  EXPECT_EQ(held(2790, measured_twice(3000, 3300)).found, burnin::Likeness::outlier);
}

TEST(SecondLook, CountsANodeThatWasMeasuredOnceForNoneBesideIt) {
  auto once = measured_twice(3000, 3000);
  once.pop_back();

  const auto open = held(2500, once);

  EXPECT_EQ(open.again, "") << "inconclusive";
  EXPECT_THAT(open.said, ElementsAre(HasSubstr("and no healthy node beside it")));
}

}  // namespace
}  // namespace cupel::steps
