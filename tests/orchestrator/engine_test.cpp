#include "orchestrator/engine/engine.h"

#include <boost/asio/detached.hpp>

#include "base/json.h"
#include "inventory/node.h"
#include "orchestrator/engine/circuit.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/engine_fixture.h"

namespace cupel::engine::fixture {
namespace {

TEST_F(EngineTest, TakesEachNodeThroughItsStepsInOrder) {
  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "done", "done", "done", "done", "done"));
  std::vector<std::string> order;
  for (const auto& event : journal_.events)
    if (event.node == "n2" && event.kind == EventKind::step_ended) order.push_back(event.step);
  EXPECT_THAT(order,
              ElementsAre("power-on", "ssh-wait", "gpu-facts", "disk", "verdict", "hand-off"));
}

TEST_F(EngineTest, WorksOnNoMoreNodesAtOnceThanThePlanAllows) {
  plan_.nodes_at_once = 1;

  ASSERT_TRUE(run());

  EXPECT_EQ(steps_.most_at_once, 1);
}

TEST_F(EngineTest, ForgetsARunOnlyOnceItIsFinished) {
  asio::io_context io;
  Dispatcher dispatcher;
  RealClock clock;
  Engine engine{dispatcher, clock};
  engine.add(setup(initial_state(plan_), steps_, observer_));

  EXPECT_FALSE(engine.forget(1));
  ASSERT_TRUE(run_to_end(io, engine.run()));
  EXPECT_EQ(engine.state(1).phase, RunPhase::ended);
  EXPECT_TRUE(engine.forget(1));

  EXPECT_TRUE(engine.finished(1));
  EXPECT_TRUE(engine.forget(1)) << "a second time";
  EXPECT_TRUE(run_to_end(io, engine.run())) << "it has nothing to do";
}

TEST_F(EngineTest, RetriesWhatIsTransientAndGivesUpAfterTheLastTry) {
  const auto busy = ends(Outcome::retry, "HTTP 503");
  steps_.script["n1/power-on"] = {busy, busy};
  steps_.script["n2/power-on"] = {busy, busy, busy, busy};

  ASSERT_TRUE(run());

  EXPECT_EQ(steps_.tries["n1/power-on"], 3);
  EXPECT_EQ(phases("n1")[0], "done");
  EXPECT_EQ(steps_.tries["n2/power-on"], 3);
  EXPECT_EQ(phases("n2")[0], "failed");
  EXPECT_THAT(state_.nodes.at("n2").steps[0].detail, HasSubstr("HTTP 503 (the last of its tries)"));
}

TEST_F(EngineTest, WritesEventsThatCanBeReadBackWhateverBytesANodeSends) {
  auto end = ends(Outcome::reject, "kex error: evil-kex-\xff\xfe");
  end.found["facts"] = {{"bios\x80", {"a\xc3"}}};
  steps_.script["n1/ssh-wait"] = {end};
  steps_.script["n2/power-on"] = {ends(Outcome::retry, "\x9b")};

  ASSERT_TRUE(run());

  for (const auto& event : journal_.events) {
    const auto written = parse_json(boost::json::serialize(event.data));
    ASSERT_TRUE(written) << event.node << " " << event.step;
    EXPECT_EQ(*written, boost::json::value(event.data));
  }
  EXPECT_EQ(phases("n1")[1], "failed");
  EXPECT_THAT(state_.nodes.at("n1").steps[1].detail, HasSubstr("evil-kex-\uFFFD\uFFFD"));
  EXPECT_THAT(phases("n2"), ::testing::Each("done"));
}

TEST_F(EngineTest, NeverRetriesARejection) {
  steps_.script["n1/power-on"] = {ends(Outcome::reject, "password refused")};

  ASSERT_TRUE(run());

  EXPECT_EQ(steps_.tries["n1/power-on"], 1);
}

TEST_F(EngineTest, AFailureThatStopsLeadsStraightToTheVerdict) {
  steps_.script["n1/power-on"] = {ends(Outcome::reject)};

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("failed", "skipped", "skipped", "skipped", "done", "done"));
  EXPECT_THAT(phases("n2"), ::testing::Each("done"));
}

TEST_F(EngineTest, AFailureThatMayGoOnDoes) {
  steps_.script["n1/gpu-facts"] = {ends(Outcome::reject)};

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "done", "failed", "done", "done", "done"));
}

TEST_F(EngineTest, AsksNoStageOfANodeThatDoesNotAnswerSsh) {
  auto steps = *plan_.nodes[0].steps;
  steps[1].on_failure = OnFailure::go_on;
  plan_.nodes[0].steps = std::make_shared<const std::vector<PlannedStep>>(steps);
  steps_.script["n1/ssh-wait"] = {ends(Outcome::reject)};

  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n1"), ElementsAre("done", "failed", "skipped", "skipped", "done", "done"));
}

TEST_F(EngineTest, AStepThatHangsEndsAtItsDeadline) {
  struct Hanging : ScriptedSteps {
    Task<Result<StepEnd>> perform(StepRequest request) override {
      if (request.step.name != "power-on") co_return StepEnd{};
      if (++tries["n1"] == 1) co_return ends(Outcome::retry, "HTTP 503");
      request.waiting("power on");
      CO_TRY(co_await pause_for(1h));
      co_return StepEnd{};
    }
  } hanging;
  auto steps = *plan_.nodes[0].steps;
  steps[0].deadline = 1s;
  plan_.nodes[0].steps = std::make_shared<const std::vector<PlannedStep>>(steps);
  plan_.nodes.resize(1);
  asio::io_context io;
  Dispatcher dispatcher;
  RealClock clock;
  Engine engine{dispatcher, clock};
  engine.add(setup(initial_state(plan_), hanging, observer_));

  ASSERT_TRUE(run_to_end(io, engine.run()));

  const auto& first = engine.state(1).nodes.at("n1").steps[0];
  EXPECT_EQ(first.phase, StepState::Phase::failed);
  EXPECT_EQ(first.detail,
            "not done within its deadline of 1 s; it waited for power on; before: HTTP 503");
}

/// Stops the engine when a step begins.
struct Stopping : Observer {
  Engine* engine = nullptr;
  std::string at{};
  void on_event(const Event& event, const RunState&) override {
    if (event.kind == EventKind::step_began && event.step == at) engine->stop(Stop::interrupt);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

TEST_F(EngineTest, StopsInTheMiddleAndGoesOnLater) {
  Stopping observer;
  observer.at = "gpu-facts";
  asio::io_context io;
  Dispatcher dispatcher;
  RealClock clock;
  Engine engine{dispatcher, clock};
  engine.add(setup(initial_state(plan_), steps_, observer));
  observer.engine = &engine;

  const auto stopped = run_to_end(io, engine.run());

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kCancelled);
  EXPECT_FALSE(engine.state(1).nodes.at("n1").steps[3].over());
  ASSERT_TRUE(run());
  EXPECT_THAT(phases("n1"), ::testing::Each("done"));
}

/// Cancels the run when the stage has been tried once, and is to be tried again in an hour.
struct Cancelling : Observer {
  Engine* engine = nullptr;
  void on_event(const Event& event, const RunState&) override {
    if (event.kind == EventKind::step_retried) engine->stop(1, Stop::cancel);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

class Cancelled : public EngineTest {
 protected:
  Cancelled() {
    plan_.nodes.resize(1);
    auto unreachable = ends(Outcome::retry, "no route");
    unreachable.retry_after = 30s;
    steps_.script["n1/disk"] = {unreachable};
    engine_.add(setup(initial_state(plan_), steps_, observer_of_cancel_));
    observer_of_cancel_.engine = &engine_;
  }
  const Event* stopped() const {
    const auto at = std::ranges::find(journal_.events, EventKind::step_stopped, &Event::kind);
    return at == journal_.events.end() ? nullptr : &*at;
  }

  asio::io_context io_{};
  Dispatcher dispatcher_{};
  RealClock clock_{};
  Engine engine_{dispatcher_, clock_};
  Cancelling observer_of_cancel_{};
};

TEST_F(Cancelled, BetweenTwoTriesEndsWhatTheStepHadStarted) {
  ASSERT_FALSE(run_to_end(io_, engine_.run()));

  EXPECT_THAT(steps_.let_go_of, ElementsAre("job of n1/disk"));
  ASSERT_NE(stopped(), nullptr);
  EXPECT_EQ(stopped()->step, "disk");
  EXPECT_FALSE(stopped()->data.contains("left"));
  EXPECT_EQ(journal_.events.back().kind, EventKind::run_cancelled);
  EXPECT_EQ(engine_.state(1).nodes.at("n1").steps[3].handle, std::nullopt);
}

TEST_F(Cancelled, SaysWhatItCouldNotEnd) {
  steps_.when_let_go = Error{Code::kUnreachable, "no route"};

  ASSERT_FALSE(run_to_end(io_, engine_.run()));

  ASSERT_NE(stopped(), nullptr);
  EXPECT_THAT(std::string{stopped()->data.at("left").as_string()}, HasSubstr("no route"));
  EXPECT_EQ(stopped()->data.at("handle").as_string(), "job of n1/disk");
}

/// One node at a time; the first is cancelled in the stage behind its settings.
class CancelledWithSettings : public EngineTest {
 protected:
  CancelledWithSettings() {
    auto restore = step(StepKind::stage, "settings-restore");
    restore.always = true;
    const auto steps = std::make_shared<std::vector<PlannedStep>>(
        std::vector{step(StepKind::stage, "settings"), step(StepKind::stage, "disk"), restore,
                    step(StepKind::verdict, "verdict")});
    for (auto& node : plan_.nodes) node.steps = steps;
    plan_.nodes_at_once = 1;
    auto unreachable = ends(Outcome::retry, "no route");
    unreachable.retry_after = 30s;
    steps_.script["n1/disk"] = {unreachable};
  }
  /// Until the run is cancelled, by its first retry or at once.
  void cancel(bool at_once = false) {
    auto state = initial_state(plan_);
    for (const auto& event : journal_.events) apply(state, event);
    asio::io_context io;
    Dispatcher dispatcher;
    RealClock clock;
    Engine engine{dispatcher, clock};
    Cancelling observer;
    engine.add(setup(std::move(state), steps_, observer));
    observer.engine = &engine;
    if (at_once) engine.stop(1, Stop::cancel);
    ASSERT_FALSE(run_to_end(io, engine.run()));
    state_ = engine.state(1);
  }
  /// "n1/disk step-stopped", from the one behind `from` on.
  std::vector<std::string> reported(std::size_t from = 0) const {
    std::vector<std::string> all;
    for (const auto& event : std::span{journal_.events}.subspan(from))
      all.push_back((event.node.empty() ? "" : event.node + "/" + event.step + " ") +
                    std::string{to_string(event.kind)});
    return all;
  }
};

TEST_F(CancelledWithSettings, PutsBackWhatItHasSetBeforeItIsOver) {
  cancel();

  const auto all = reported();
  EXPECT_THAT(std::vector(all.end() - 5, all.end()),
              ElementsAre("n1/disk step-stopped", "n1/settings-restore step-began",
                          "n1/settings-restore step-started", "n1/settings-restore step-ended",
                          "run-cancelled"));
  EXPECT_THAT(phases("n1"), ElementsAre("done", "waiting", "done", "waiting"));
  EXPECT_THAT(phases("n2"), ::testing::Each("waiting"));
}

TEST_F(CancelledWithSettings, IsOverThoughTheNodeCannotBeReached) {
  const auto unreachable = ends(Outcome::retry, "no route");
  steps_.script["n1/settings-restore"] = {unreachable, unreachable, unreachable};

  cancel();

  EXPECT_EQ(reported().back(), "run-cancelled");
  EXPECT_EQ(phases("n1")[2], "failed");
  EXPECT_THAT(state_.nodes.at("n1").steps[2].detail, HasSubstr("no route"));
}

TEST_F(CancelledWithSettings, PutsThemBackAnewUnderTheNextControllerWhereThisOneDiedMeanwhile) {
  cancel();
  while (reported().back() != "n1/settings-restore step-started") journal_.events.pop_back();
  const auto before = journal_.events.size();

  cancel(true);

  EXPECT_THAT(steps_.let_go_of, ElementsAre("job of n1/disk", "job of n1/settings-restore"));
  EXPECT_THAT(reported(before),
              ElementsAre("n1/settings-restore step-stopped", "n1/settings-restore step-began",
                          "n1/settings-restore step-started", "n1/settings-restore step-ended",
                          "run-cancelled"));
}

TEST_F(CancelledWithSettings, TouchesNoNodeWhereAllIsBackAlready) {
  steps_.script.clear();
  ASSERT_TRUE(run());
  while (reported().back() != "n1/settings-restore step-ended") journal_.events.pop_back();
  const auto before = journal_.events.size();

  cancel(true);

  EXPECT_THAT(reported(before), ElementsAre("run-cancelled"));
}

TEST_F(EngineTest, TheLastOfItsTriesEndsWhatTheStepHadStartedAndThenSaysSo) {
  const auto unreachable = ends(Outcome::retry, "no route");
  steps_.script["n1/disk"] = {unreachable, unreachable, unreachable};

  ASSERT_TRUE(run());

  EXPECT_THAT(steps_.let_go_of, ElementsAre("job of n1/disk"));
  EXPECT_THAT(state_.nodes.at("n1").steps[3].detail, HasSubstr("the last of its tries"));
  EXPECT_EQ(phases("n1")[4], "done");
}

TEST_F(EngineTest, ARejectedStepLeavesNothingOnItsNode) {
  steps_.script["n1/disk"] = {ends(Outcome::reject, "no such disk")};
  steps_.when_let_go = Error{Code::kUnreachable, "no route"};

  ASSERT_TRUE(run());

  EXPECT_THAT(steps_.let_go_of, ElementsAre("job of n1/disk"));
  EXPECT_THAT(state_.nodes.at("n1").steps[3].detail, HasSubstr("could not be ended: no route"));
}

TEST_F(EngineTest, WhatWasEndedHalfDoneUnderAControllerThatIsGoneBeginsAnew) {
  ASSERT_TRUE(run());
  const auto started = std::ranges::find(journal_.events, EventKind::step_started, &Event::kind);
  journal_.events.erase(started + 1, journal_.events.end());
  const auto node = journal_.events.back().node;
  const auto key = node + "/" + journal_.events.back().step;
  auto half_done = ends(Outcome::reject, "it was ended half done");
  half_done.begin_anew = true;
  steps_ = {};
  steps_.script[key] = {half_done};

  ASSERT_TRUE(run());

  EXPECT_THAT(steps_.started, ::testing::Contains(key));
  EXPECT_EQ(std::ranges::count(journal_.events, EventKind::step_shed, &Event::kind), 1);
  EXPECT_THAT(phases(node), ::testing::Each("done"));
}

/// The contract: a crash after any single write, and the run goes on as if nothing had been.
TEST_F(EngineTest, ACrashAtEveryWriteStartsNoStageTwiceAndLosesNoResult) {
  ASSERT_TRUE(run());
  const auto whole = journal_.events.size();
  ASSERT_GT(whole, 20);

  for (std::size_t room = 0; room < whole; ++room) {
    journal_ = {};
    steps_ = {};
    journal_.room = room;

    const auto crashed = run();
    const auto kept = journal_.events;
    journal_.room = 1'000'000;
    const auto resumed = run();

    ASSERT_FALSE(crashed) << "after " << room << " writes";
    EXPECT_EQ(crashed.error().code, Code::kStorage);
    ASSERT_TRUE(resumed) << "after " << room << " writes";
    EXPECT_THAT(phases("n1"), ::testing::Each("done")) << "after " << room << " writes";
    EXPECT_THAT(phases("n2"), ::testing::Each("done")) << "after " << room << " writes";
    const std::set<std::string> once(steps_.started.begin(), steps_.started.end());
    EXPECT_EQ(once.size(), steps_.started.size()) << "a stage was started twice after " << room;
    std::map<std::string, int> ended;
    for (const auto& event : journal_.events)
      if (event.kind == EventKind::step_ended) ++ended[event.node + "/" + event.step];
    for (const auto& [which, times] : ended) EXPECT_EQ(times, 1) << which << " after " << room;
    for (std::size_t i = 0; i < kept.size(); ++i)
      EXPECT_EQ(journal_.events[i].step, kept[i].step) << "what was written is kept";
  }
}

class BehindACanary : public EngineTest {
 protected:
  BehindACanary() {
    plan_.canary = {1};
    const auto steps = std::make_shared<std::vector<PlannedStep>>(
        std::vector{step(StepKind::slurm_hold, "slurm-hold", OnFailure::go_on),
                    step(StepKind::power_on, "power-on"), step(StepKind::verdict, "verdict")});
    for (auto& node : plan_.nodes) node.steps = steps;
  }
  /// Where in the journal it is.
  std::size_t event_at(EventKind kind, const std::string& node, const std::string& step) const {
    return static_cast<std::size_t>(std::ranges::find_if(journal_.events,
                                                         [&](const Event& event) {
                                                           return event.kind == kind &&
                                                                  event.node == node &&
                                                                  event.step == step;
                                                         }) -
                                    journal_.events.begin());
  }
};

TEST_F(BehindACanary, EachNodeIsHeldBeforeTheCanaryIsThrough) {
  ASSERT_TRUE(run());

  EXPECT_THAT(phases("n2"), ElementsAre("done", "done", "done"));
  EXPECT_LT(event_at(EventKind::step_ended, "n2", "slurm-hold"),
            event_at(EventKind::step_ended, "n1", "verdict"));
  EXPECT_GT(event_at(EventKind::step_began, "n2", "power-on"),
            event_at(EventKind::step_ended, "n1", "verdict"));
}

TEST_F(BehindACanary, ANodeThatIsHeldTakesNoPlaceOfThoseThatWork) {
  plan_.nodes_at_once = 1;

  ASSERT_TRUE(run());

  EXPECT_EQ(steps_.most_at_once, 1);
  EXPECT_THAT(phases("n2"), ElementsAre("done", "done", "done"));
}

TEST_F(BehindACanary, ANodeThatCouldNotBeHeldWaitsForItsWaveToo) {
  steps_.script["n2/slurm-hold"] = {ends(Outcome::reject, "Slurm does not know it")};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n2")[0], "failed");
  EXPECT_GT(event_at(EventKind::step_began, "n2", "power-on"),
            event_at(EventKind::step_ended, "n1", "verdict"));
}

TEST_F(BehindACanary, WhatAPersonSkipsLetsNoNodeInBeforeItsWave) {
  Event skipped{.kind = EventKind::step_skipped, .node = "n2", .step = "power-on"};
  skipped.data = {{"why", "on order"}, {"because", "person"}, {"by", "alice"}};
  journal_.events.push_back(skipped);

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n2")[1], "skipped");
  EXPECT_GT(event_at(EventKind::step_began, "n2", "verdict"),
            event_at(EventKind::step_ended, "n1", "verdict"));
}

TEST_F(BehindACanary, IsHaltedOnceNothingOfItGoesOn) {
  steps_.script["n1/power-on"] = {ends(Outcome::reject)};
  asio::io_context io;
  Dispatcher dispatcher;
  RealClock clock;
  Engine engine{dispatcher, clock};
  engine.add(setup(initial_state(plan_), steps_, observer_));
  bool halted = false;
  const auto watch = [](Engine& runs, bool& seen) -> Task<void> {
    for (int looks = 0; looks < 10'000 && !runs.halted(1); ++looks) {
      [[maybe_unused]] const auto paused = co_await pause_for(1ms);
    }
    seen = runs.halted(1);
    runs.stop(1, Stop::interrupt);
  };
  asio::co_spawn(io, watch(engine, halted), asio::detached);

  [[maybe_unused]] const auto ran = run_to_end(io, engine.run());

  EXPECT_TRUE(halted);
  EXPECT_FALSE(engine.halted(1)) << "it has ended";
  EXPECT_EQ(engine.state(1).phase, RunPhase::interrupted);
  EXPECT_EQ(engine.state(1).nodes.at("n2").steps[0].phase, StepState::Phase::done);
  EXPECT_EQ(engine.state(1).nodes.at("n2").steps[1].phase, StepState::Phase::waiting);
}

TEST_F(BehindACanary, ACrashAtEveryWriteLetsNoNodeInBeforeItsWave) {
  ASSERT_TRUE(run());
  const auto all = journal_.events;
  for (std::size_t written = 1; written < all.size(); ++written) {
    journal_.events.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(written));

    ASSERT_TRUE(run()) << written;

    EXPECT_GT(event_at(EventKind::step_began, "n2", "power-on"),
              event_at(EventKind::step_ended, "n1", "verdict"))
        << written;
  }
}

TEST(Circuit, ANodeHasFailedByAStepOrByItsVerdict) {
  NodeState well, bad, broken;
  well.steps.resize(2);
  well.facts[std::string{kVerdictFact}] = "pass";
  bad.steps.resize(2);
  bad.facts[std::string{kVerdictFact}] = "fail";
  broken.steps.resize(2);
  broken.steps[1].phase = StepState::Phase::failed;

  EXPECT_FALSE(has_failed(well));
  EXPECT_TRUE(has_failed(bad));
  EXPECT_TRUE(has_failed(broken));
}

TEST(RunState, IgnoresEventsThatMakeNoSense) {
  inventory::Node node;
  node.name = "n1";
  playbooks::Plan plan;
  plan.nodes.push_back({&node, std::make_shared<const std::vector<PlannedStep>>(
                                   std::vector{step(StepKind::power_on, "power-on")})});
  auto state = initial_state(plan);
  const auto before = state.nodes;

  for (const auto& [who, what] : {std::pair{"n9", "power-on"}, {"n1", "none"}, {"", ""}}) {
    Event event;
    event.kind = EventKind::step_ended;
    event.node = who;
    event.step = what;
    apply(state, event);
  }

  EXPECT_EQ(state.nodes, before);
}

}  // namespace
}  // namespace cupel::engine::fixture
