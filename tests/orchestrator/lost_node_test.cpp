// A node that answers SSH no more in the middle of its run.
#include "tests/orchestrator/engine_fixture.h"

namespace cupel::engine::fixture {
namespace {

/// Its stage "cpu" fails, and what it started there cannot be ended: the node does not answer.
class LostNode : public EngineTest {
 protected:
  LostNode() {
    plan_.nodes.resize(1);
    give(std::vector{step(StepKind::ssh_wait, "ssh-wait", OnFailure::go_on),
                     step(StepKind::stage, "cpu", OnFailure::go_on),
                     step(StepKind::stage, "memory", OnFailure::go_on),
                     step(StepKind::stage, "disk", OnFailure::go_on),
                     step(StepKind::verdict, "verdict")});
    steps_.script["n1/cpu"] = {ends(Outcome::needs_operator, "no route to host")};
    steps_.when_let_go = Error{Code::kUnreachable, "no route to host"};
  }
  void give(std::vector<PlannedStep> steps) {
    plan_.nodes[0].steps = std::make_shared<const std::vector<PlannedStep>>(std::move(steps));
  }
  const StepState& at(std::size_t step) const { return state_.nodes.at("n1").steps[step]; }
};

TEST_F(LostNode, IsAskedForNoFurtherStage) {
  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "skipped", "skipped", "done"));
  EXPECT_THAT(steps_.started, ElementsAre("n1/cpu"));
  EXPECT_EQ(at(2).detail, "the node has not answered SSH since 'cpu'");
  EXPECT_EQ(at(3).detail, "the node has not answered SSH since 'cpu'");
}

TEST_F(LostNode, IsNotTakenForLostWhereItAnswersAfterTheFailure) {
  steps_.when_let_go = ok();

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "done", "done", "done"));
}

TEST_F(LostNode, IsNotTakenForLostWhereWhatItRunsCannotBeEnded) {
  steps_.when_let_go = Error{Code::kFailed, "the job does not end"};

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "done", "done", "done"));
}

TEST_F(LostNode, IsAskedAgainOnceItWasStartedAgain) {
  for (const auto kind : {StepKind::power_cycle, StepKind::power_on, StepKind::ssh_wait}) {
    journal_ = {};
    steps_.started.clear();
    steps_.tries.clear();
    give(std::vector{step(StepKind::stage, "cpu", OnFailure::go_on),
                     step(StepKind::stage, "memory", OnFailure::go_on), step(kind, "again"),
                     step(StepKind::stage, "disk"), step(StepKind::verdict, "verdict")});

    ASSERT_TRUE(run());

    EXPECT_THAT(phases("n1"), ElementsAre("failed", "skipped", "done", "done", "done"));
  }
}

TEST_F(LostNode, IsStillAskedToPutItsSettingsBack) {
  auto restore = step(StepKind::stage, "settings-restore");
  restore.always = true;
  give(std::vector{step(StepKind::stage, "settings"),
                   step(StepKind::stage, "cpu", OnFailure::go_on),
                   step(StepKind::stage, "memory", OnFailure::go_on), restore,
                   step(StepKind::stage, "disk", OnFailure::go_on)});

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "skipped", "done", "done"));
}

TEST_F(LostNode, StaysLostUnderTheNextController) {
  ASSERT_TRUE(run());
  const auto lost = std::ranges::find(journal_.events, EventKind::step_skipped, &Event::kind);
  journal_.events.erase(lost, journal_.events.end());
  steps_.tries.clear();

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "skipped", "skipped", "done"));
}

TEST_F(LostNode, IsAskedFromTheLostStepOnWhereAPersonRetriesIt) {
  ASSERT_TRUE(run());
  Event again;
  again.kind = EventKind::node_retried;
  again.node = "n1";
  again.data["from"] = "cpu";
  apply(state_, again);

  const auto what = next(plan_.nodes[0], state_.nodes.at("n1"));

  EXPECT_EQ(what.kind, Next::Kind::perform);
  EXPECT_EQ(what.step, 1);
  EXPECT_FALSE(at(1).ssh_lost);
}

TEST_F(LostNode, IsNotNamedWhereSeveralDidTheStageTogether) {
  const auto lost = [this](std::size_t step) { return at(step).ssh_lost; };
  plan_.nodes.push_back({&nodes_[1], plan_.nodes[0].steps});
  auto steps = *plan_.nodes[0].steps;
  steps[1].together = playbooks::Together::all;
  for (auto& node : plan_.nodes)
    node.steps = std::make_shared<const std::vector<PlannedStep>>(steps);
  plan_.groups = {{.step = "cpu", .members = {0, 1}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1")[1], "failed");
  EXPECT_FALSE(lost(1));
  EXPECT_EQ(phases("n1")[2], "done");
}

}  // namespace
}  // namespace cupel::engine::fixture
