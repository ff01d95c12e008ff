// What people ask of a run, and what it does by itself: pause, approve, retry, skip, release,
// halts, the canary, shedding, and steps that would never end.
#include <gmock/gmock.h>

#include "inventory/node.h"
#include "orchestrator/engine/state_codec.h"
#include "playbooks/condition.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/sim/trial.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;
using playbooks::OnFailure;
using playbooks::PlannedStep;
using playbooks::StepKind;
using sim::VirtualClock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Ends each try as its function says; looks at the clock meanwhile.
struct Scripted : Steps {
  VirtualClock& clock;
  std::function<StepEnd(const StepRequest&)> script{};
  std::vector<std::string> begun{};
  std::vector<std::size_t> together{};
  std::chrono::seconds time{10};
  std::set<std::string> slow{};  // nodes of which everything takes fifty minutes

  explicit Scripted(VirtualClock& its_clock) : clock{its_clock} {}
  Task<Result<StepEnd>> perform(StepRequest request) override {
    begun.push_back(request.node.name + "/" + request.step.name);
    together.push_back(request.members.size());
    CO_TRY(co_await clock.pause(slow.contains(request.node.name) ? 50min : time));
    co_return script ? script(request) : StepEnd{};
  }
  Task<Result<void>> abort(StepRequest) override { co_return ok(); }
};

StepEnd ends(Outcome outcome, std::chrono::milliseconds after = 0ms) {
  StepEnd end;
  end.outcome = outcome;
  end.detail = "because";
  end.retry_after = after;
  return end;
}

PlannedStep step(std::string name, StepKind kind = StepKind::bmc_facts) {
  PlannedStep planned;
  planned.kind = kind;
  planned.name = std::move(name);
  planned.expected = 10s;
  planned.deadline = 1h;
  planned.tries = 3;
  return planned;
}

class People : public ::testing::Test, public Observer {
 protected:
  People() { journal_.clock = &clock_; }

  void plan(std::size_t nodes, std::vector<PlannedStep> steps) {
    nodes_.resize(nodes);
    const auto shared = std::make_shared<const std::vector<PlannedStep>>(std::move(steps));
    for (std::size_t i = 0; i < nodes; ++i) {
      nodes_[i].name = "n" + std::to_string(i + 1);
      plan_.nodes.push_back({&nodes_[i], shared});
    }
  }

  Result<void> run() {
    engine_.emplace(dispatcher_, clock_);
    auto state = initial_state(plan_);
    for (const auto& event : journal_.events) apply(state, event);
    engine_->add({.run = 1,
                  .plan = plan_,
                  .state = std::move(state),
                  .journal = journal_,
                  .steps = steps_,
                  .observer = *this,
                  .repair_patience = repair_patience_});
    asio::io_context io;
    auto all = [](People& test) -> Task<Result<void>> {
      const auto executor = co_await asio::this_coro::executor;
      std::optional<Result<void>> ran;
      std::optional<Result<void>> asked;
      auto group = asio::experimental::make_parallel_group(
          asio::co_spawn(executor, detail::run_into(ran, test.engine_->run()), asio::deferred),
          asio::co_spawn(executor, detail::run_into(asked, test.ask_all()), asio::deferred));
      const auto [order, crash, bug] =
          co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
      for (const auto& thrown : {crash, bug})
        if (thrown) std::rethrow_exception(thrown);
      co_return std::move(*ran);
    };
    auto ended = run_virtually(io, clock_, all(*this));
    if (!ended) return Error{Code::kTimeout, "stuck"};
    return std::move(*ended);
  }

  Task<Result<void>> ask_all() {
    for (auto& [when, command] : asks_) {
      CO_TRY(co_await clock_.pause_until(start_ + when));
      command.run = 1;
      command.id = ++last_id_;
      command.by = "ada";
      answers_.push_back(co_await engine_->take(command));
    }
    co_return ok();
  }

  void on_event(const Event& event, const RunState&) override { seen_.push_back(event); }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}

  std::string phases(const std::string& node) const {
    std::string words;
    for (const auto& each : engine_->state(1).nodes.at(node).steps)
      words += "wrdfs"[static_cast<std::size_t>(each.phase)];
    return words;
  }
  std::size_t count(EventKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(seen_, kind, &Event::kind));
  }

  std::chrono::seconds repair_patience_{0};
  VirtualClock clock_{};
  Clock::Time start_ = clock_.now();
  std::vector<inventory::Node> nodes_{};
  playbooks::Plan plan_{};
  sim::MemoryJournal journal_{};
  Scripted steps_{clock_};
  Dispatcher dispatcher_{};
  std::optional<Engine> engine_{};
  std::vector<std::pair<std::chrono::seconds, Command>> asks_{};
  std::vector<Result<void>> answers_{};
  std::vector<Event> seen_{};
  std::int64_t last_id_ = 0;
};

TEST_F(People, APauseBeginsNothingNewAndLetsWhatRunsGoOn) {
  plan(1, {step("a"), step("b")});
  asks_ = {{5s, {.kind = Command::Kind::pause}}, {500s, {.kind = Command::Kind::unpause}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "dd");
  EXPECT_GE(clock_.now() - start_, 510s);
}

TEST_F(People, AnApprovalIsWaitedForAndHasANameOnIt) {
  plan(2, {step("a"), step("gate", StepKind::approval), step("b")});
  asks_ = {{100s, {.kind = Command::Kind::approve, .node = "n1"}},
           {300s, {.kind = Command::Kind::approve, .step = "gate"}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(engine_->state(1).nodes.at("n1").steps[1].detail, "approved by ada");
  EXPECT_THAT(steps_.begun, ElementsAre("n1/a", "n2/a", "n1/b", "n2/b"));
  EXPECT_GE(clock_.now() - start_, 310s);
}

TEST_F(People, TooManyFailuresHaltTheStepUntilAPersonHasLooked) {
  auto risky = step("b");
  risky.stop_after.failures = 2;
  plan(4, {step("a"), risky});
  plan_.nodes_at_once = 1;
  int tries = 0;
  steps_.script = [&](const StepRequest& request) {
    return request.step.name == "b" && ++tries <= 2 ? ends(Outcome::reject) : StepEnd{};
  };
  asks_ = {{1000s, {.kind = Command::Kind::release, .step = "b"}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(count(EventKind::run_halted), 1);
  EXPECT_EQ(phases("n2") + phases("n3") + phases("n4"), "dfdddd");
  EXPECT_GE(clock_.now() - start_, 1000s);
}

TEST_F(People, ANodeThatIsTriedAgainCountsOnceTowardsAHalt) {
  auto risky = step("b");
  risky.stop_after.failures = 2;
  plan(3, {step("a"), risky});
  plan_.nodes_at_once = 1;
  repair_patience_ = 1h;
  int tries = 0;
  steps_.script = [&](const StepRequest& request) {
    const bool fails = request.node.name == "n1" && request.step.name == "b" && ++tries <= 3;
    return fails ? ends(Outcome::needs_operator) : StepEnd{};
  };
  asks_ = {{300s, {.kind = Command::Kind::retry, .node = "n1"}},
           {600s, {.kind = Command::Kind::retry, .node = "n1"}},
           {900s, {.kind = Command::Kind::retry, .node = "n1"}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(tries, 4);
  EXPECT_EQ(count(EventKind::run_halted), 0);
  EXPECT_EQ(engine_->state(1).tallies.at("b"), (Tally{.ended = 3, .failed = 0}));
}

TEST_F(People, TheCanaryGoesFirstAndAFailingOneStopsTheRest) {
  plan(7, {step("a")});
  plan_.canary = {1, 2};
  int tries = 0;
  steps_.script = [&](const StepRequest&) {
    return ++tries == 1 ? ends(Outcome::reject) : StepEnd{};
  };
  asks_ = {{1000s, {.kind = Command::Kind::release}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(count(EventKind::run_halted), 1);
  std::vector<std::int64_t> waves;
  for (const auto& event : seen_)
    if (event.kind == EventKind::wave_opened) waves.push_back(event.data.at("nodes").as_int64());
  EXPECT_THAT(waves, ElementsAre(1, 3, 7));
}

TEST_F(People, ARunStaysOpenForRepairsAndContinuesAfterThem) {
  plan(2, {step("facts"), step("power"), step("audit")});
  repair_patience_ = 1h;
  int tries = 0;
  steps_.script = [&](const StepRequest& request) {
    const bool missing = request.node.name == "n1" && request.step.name == "audit";
    return missing && ++tries == 1 ? ends(Outcome::needs_operator) : StepEnd{};
  };
  asks_ = {{600s, {.kind = Command::Kind::retry, .node = "n1", .step = "facts"}},
           {601s, {.kind = Command::Kind::retry, .node = "n1", .step = "audit"}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "ddd");
  EXPECT_EQ(engine_->state(1).nodes.at("n1").steps[0].attempt, 2) << "not from the facts on";
  EXPECT_LT(clock_.now() - start_, 700s);
  ASSERT_FALSE(answers_[1]);
  EXPECT_EQ(answers_[1].error().what, "n1 has no failed step");
}

// A verdict is made again once other nodes have reported; what proved nothing is measured again.
TEST_F(People, ARetryBeginsAtTheStepThatIsNamedWhereNoneHasFailed) {
  plan(2, {step("facts"), step("verdict"), step("hand")});
  steps_.script = [&](const StepRequest& request) {
    const bool early = request.node.name == "n2" && clock_.now() - start_ < 500s;
    auto end = ends(early ? Outcome::wait : Outcome::done);
    end.retry_after = 10s;
    return end;
  };
  asks_ = {{300s, {.kind = Command::Kind::retry, .node = "n1", .step = "verdict"}},
           {301s, {.kind = Command::Kind::retry, .node = "n1"}}};

  ASSERT_TRUE(run());

  const auto& steps = engine_->state(1).nodes.at("n1").steps;
  EXPECT_EQ(phases("n1"), "ddd");
  EXPECT_EQ(steps[0].attempt, 1);
  EXPECT_EQ(steps[1].attempt, 2);
  EXPECT_EQ(steps[2].attempt, 2);
  EXPECT_TRUE(answers_[0]);
  EXPECT_FALSE(answers_[1]) << "no step is named, and none has failed";
}

// A verdict has a part measured again before it calls it bad.
TEST_F(People, AStepThatSendsItsNodeBackIsDoneAgainBehindTheStepsThatItNames) {
  plan(1, {step("burn"), step("audit"), step("verdict"), step("hand")});
  steps_.script = [](const StepRequest& request) {
    auto end = ends(Outcome::done);
    if (request.step.name == "verdict" && request.attempt == 1)
      end.found["again"] = boost::json::array{"burn", "hand", "none", 7};
    return end;
  };

  ASSERT_TRUE(run());

  EXPECT_THAT(steps_.begun,
              ElementsAre("n1/burn", "n1/audit", "n1/verdict", "n1/burn", "n1/verdict", "n1/hand"));
  EXPECT_EQ(phases("n1"), "dddd");
}

TEST_F(People, ARunForWhichNobodyComesEndsWhenItsPatienceIsOver) {
  plan(2, {step("power"), step("boot")});
  repair_patience_ = 1h;
  steps_.script = [](const StepRequest& request) {
    auto end = ends(request.node.name == "n1" ? Outcome::retry : Outcome::done);
    end.at_last = Outcome::needs_operator;
    return end;
  };

  ASSERT_TRUE(run());
  const auto waited = clock_.now() - start_;

  const auto& failed = engine_->state(1).nodes.at("n1").steps[0];
  EXPECT_EQ(failed.outcome, Outcome::needs_operator) << "the last of its tries says what it needs";
  EXPECT_EQ(failed.attempt, 3);
  EXPECT_GE(waited, 1h);
  EXPECT_LT(waited, 1h + 5min);
}

TEST_F(People, AChangedClockDoesNotProlongTheWaitForRepairs) {
  plan(2, {step("power"), step("boot")});
  repair_patience_ = 1h;
  steps_.script = [&](const StepRequest& request) {
    if (request.node.name == "n1") return ends(Outcome::needs_operator);
    if (request.step.name == "boot") clock_.set_wall(-24h);
    return StepEnd{};
  };

  ASSERT_TRUE(run());

  EXPECT_GE(clock_.now() - start_, 1h);
  EXPECT_LT(clock_.now() - start_, 1h + 5min);
}

TEST_F(People, ARetryBeginsAgainWhereTheNodeFailed) {
  plan(2, {step("a"), step("b"), step("verdict", StepKind::verdict)});
  auto steps = *plan_.nodes[0].steps;
  steps[2].always = true;
  steps.push_back(step("gate", StepKind::approval));
  steps.back().always = true;
  for (auto& node : plan_.nodes)
    node.steps = std::make_shared<const std::vector<PlannedStep>>(steps);
  int tries = 0;
  steps_.script = [&](const StepRequest& request) {
    return request.node.name == "n1" && request.step.name == "a" && ++tries == 1
               ? ends(Outcome::reject)
               : StepEnd{};
  };
  asks_ = {{100s, {.kind = Command::Kind::retry, .node = "n1"}},
           {101s, {.kind = Command::Kind::retry, .node = "n9"}},
           {300s, {.kind = Command::Kind::approve}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "dddd");
  EXPECT_EQ(engine_->state(1).nodes.at("n1").steps[0].attempt, 2);
  ASSERT_FALSE(answers_[1]);
  EXPECT_EQ(answers_[1].error().what, "the run has no node 'n9'");
  EXPECT_EQ(engine_->state(1).last_command, 3);
}

TEST_F(People, ASkipIsRecordedWithItsReason) {
  plan(1, {step("a"), step("b"), step("c")});
  asks_ = {{5s, {.kind = Command::Kind::skip, .node = "n1", .step = "b", .text = "no such port"}}};

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "dsd");
  EXPECT_EQ(engine_->state(1).nodes.at("n1").steps[1].detail, "no such port");
}

TEST_F(People, ACancelEndsTheRunWithTheNameOfWhoWantedIt) {
  plan(3, {step("a"), step("b")});
  asks_ = {{5s, {.kind = Command::Kind::cancel}}};

  const auto ended = run();

  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kCancelled);
  EXPECT_EQ(seen_.back().kind, EventKind::run_cancelled);
  EXPECT_EQ(seen_.back().data.at("by").as_string(), "ada");
}

TEST_F(People, AFloodOfSlowMachinesDelaysNoCommandAndNoHealthyNode) {
  plan(2001, {step("a"), step("b")});
  plan_.nodes_at_once = 5000;
  for (int i = 1; i <= 2000; ++i) steps_.slow.insert("n" + std::to_string(i));
  asks_ = {{60s, {.kind = Command::Kind::pause}}, {70s, {.kind = Command::Kind::cancel}}};
  const auto begun = clock_.wall();

  ASSERT_FALSE(run());

  std::map<EventKind, std::chrono::milliseconds> last;
  for (const auto& event : seen_)
    if (event.node.empty() || event.node == "n2001") last[event.kind] = event.time - begun;
  EXPECT_EQ(last[EventKind::step_ended], 20s) << "of the healthy node";
  EXPECT_EQ(last[EventKind::run_paused], 60s);
  EXPECT_EQ(last[EventKind::run_cancelled], 70s);
}

TEST_F(People, ARunWhoseClockIsSetForwardInAPauseGoesOnAtOnceAtItsResume) {
  plan(1, {step("a")});
  int tries = 0;
  steps_.script = [&](const StepRequest&) {
    return ++tries == 1 ? ends(Outcome::wait, 600s) : StepEnd{};
  };
  journal_.crash_at = 2;  // right behind the step_retried
  journal_.after_fsync = true;
  try {
    [[maybe_unused]] const auto ended = run();
  } catch (const sim::Crash&) {
    clock_.forget_sleepers();
  }
  ASSERT_EQ(journal_.events.back().kind, EventKind::step_retried);
  journal_.crash_at = 0;
  clock_.set_wall(10h);
  const auto resumed = clock_.now();

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "d");
  EXPECT_EQ(clock_.now() - resumed, 10s);
}

TEST_F(People, AGroupIsDoneTogetherAndAMemberThatFailedBeforeLeavesIt) {
  auto pairs = step("pairs");
  pairs.together = playbooks::Together::pairs;
  plan(4, {step("a"), pairs});
  plan_.nodes_at_once = 1;
  plan_.groups = {{"pairs", {0, 1}}, {"pairs", {2, 3}}};
  steps_.script = [](const StepRequest& request) {
    return request.node.name == "n3" ? ends(Outcome::reject) : StepEnd{};
  };

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1") + phases("n2") + phases("n3") + phases("n4"), "ddddfsds");
  EXPECT_THAT(engine_->state(1).nodes.at("n4").steps[1].detail, HasSubstr("n3"));
  EXPECT_EQ(std::ranges::count(steps_.together, 2u), 1);
}

TEST_F(People, AStepThatIsSkippedSaysWhoOrWhatLeftItOut) {
  auto conditional = step("conditional");
  conditional.when = {
      {.about = playbooks::Condition::About::fact, .name = "bmc.vendor", .values = {"Supermicro"}}};
  auto pairs = step("pairs");
  pairs.together = playbooks::Together::pairs;
  plan(3, {step("a"), conditional, pairs, step("b")});
  plan_.groups = {{"pairs", {0, 1}}};
  steps_.script = [](const StepRequest& request) {
    const bool fails = request.node.name == "n1" && request.step.name == "a";
    auto end = fails ? ends(Outcome::reject) : StepEnd{};
    if (request.node.name == "n3") end.found["facts"] = {{"bmc.vendor", "NVIDIA"}};
    return end;
  };
  asks_ = {{5s, {.kind = Command::Kind::skip, .node = "n3", .step = "b", .text = "no cable"}}};

  ASSERT_TRUE(run());

  std::map<std::string, std::string> because;
  for (const auto& event : seen_)
    if (event.kind == EventKind::step_skipped)
      because[event.node + " " + event.step] = event.data.at("because").as_string();
  EXPECT_EQ(because, (std::map<std::string, std::string>{{"n1 conditional", "failure"},
                                                         {"n1 pairs", "failure"},
                                                         {"n1 b", "failure"},
                                                         {"n2 conditional", "untold"},
                                                         {"n2 pairs", "partner"},
                                                         {"n3 conditional", "condition"},
                                                         {"n3 pairs", "partner"},
                                                         {"n3 b", "person"}}));
}

TEST_F(People, WhatTakesLongIsSaidOnceAndGoesOn) {
  plan(1, {step("a")});
  steps_.time = 20min;

  ASSERT_TRUE(run());

  EXPECT_EQ(count(EventKind::step_overdue), 1);
  EXPECT_EQ(phases("n1"), "d");
}

TEST_F(People, AVerdictThatWaitsForOtherNodesIsNotOverdue) {
  plan(1, {step("verdict", StepKind::verdict)});
  steps_.time = 20min;

  ASSERT_TRUE(run());

  EXPECT_EQ(count(EventKind::step_overdue), 0);
  EXPECT_EQ(phases("n1"), "d");
}

/// Steps that answer "again" for ever, at once or whenever they like.
TEST_F(People, NoPathLeadsToEndlessRetry) {
  for (const auto outcome : {Outcome::wait, Outcome::retry})
    for (const auto after : {0ms, 1ms, 100'000'000ms}) {
      SCOPED_TRACE(std::string{to_string(outcome)} + " " + std::to_string(after.count()));
      journal_.events.clear();
      plan_ = {};
      plan(2, {step("a"), step("verdict", StepKind::verdict)});
      steps_.script = [&](const StepRequest&) { return ends(outcome, after); };
      steps_.time = 0s;

      ASSERT_TRUE(run());

      EXPECT_EQ(phases("n1"), "fs");
    }
}

TEST_F(People, APauseBetweenTriesIsAFactThatNoClockCanStretch) {
  plan(1, {step("a")});
  int tries = 0;
  steps_.script = [&](const StepRequest&) {
    return ++tries == 1 ? ends(Outcome::wait, 600s) : StepEnd{};
  };
  journal_.crash_at = 4;  // the second step_began: right after the pause
  try {
    [[maybe_unused]] const auto ended = run();
  } catch (const sim::Crash&) {
    clock_.forget_sleepers();
  }
  journal_.crash_at = 0;
  clock_.set_wall(-10h);
  const auto resumed = clock_.now();

  ASSERT_TRUE(run());

  EXPECT_EQ(phases("n1"), "d");
  EXPECT_LE(clock_.now() - resumed, 620s);
}

TEST_F(People, ASnapshotIsTheStateToTheLastField) {
  sim::Trial trial{7, 6, {.transient = 0.2, .hang = 0.02, .reject = 0.05, .hands = 0.02}};
  std::size_t compared = 0;
  trial.on_event = [&](Engine& engine, const Event&) {
    const auto& state = engine.state(1);
    const auto again = decode(encode(state), trial.rack.plan);
    ASSERT_TRUE(again);
    ASSERT_EQ(*again, state);
    ++compared;
  };

  ASSERT_TRUE(trial.to_the_end());

  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace cupel::engine
