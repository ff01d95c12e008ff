// A journal that takes its time: nothing is done before its event is durable, and all else goes on.
#include <boost/asio/post.hpp>

#include "tests/orchestrator/engine_fixture.h"

namespace cupel::engine::fixture {
namespace {

/// Takes a while for each write, and has what it writes only then.
struct SlowJournal : MemoryJournal {
  std::function<void()> meanwhile{};
  int under_way = 0;
  int most_under_way = 0;

  Task<Result<void>> append(std::span<Event> more) override {
    most_under_way = std::max(most_under_way, ++under_way);
    // A copy: it may put another one in its place.
    if (const auto now = meanwhile) now();
    CO_TRY(co_await pause_for(2ms));
    --under_way;
    co_return co_await MemoryJournal::append(more);
  }
};

struct WhileAJournalWrites : EngineTest {
  bool written(EventKind kind, std::string_view node, std::string_view step) const {
    return std::ranges::any_of(slow_.events, [&](const Event& event) {
      return event.kind == kind && event.node == node && event.step == step;
    });
  }
  RunSetup slowly(Steps& steps) {
    return {.run = 1,
            .plan = plan_,
            .state = initial_state(plan_),
            .journal = slow_,
            .steps = steps,
            .observer = observer_,
            .backoff = {1ms, 4ms}};
  }

  SlowJournal slow_{};
  asio::io_context io_{};
  Dispatcher dispatcher_{};
  RealClock clock_{};
  Engine engine_{dispatcher_, clock_};
};

TEST_F(WhileAJournalWrites, NoStepBeginsBeforeItsIntentAndNoJobBeforeItsHandleIsDurable) {
  struct Looking : ScriptedSteps {
    const WhileAJournalWrites* test = nullptr;
    int unwritten = 0;
    Task<Result<StepEnd>> perform(StepRequest request) override {
      const auto& node = request.node.name;
      if (!test->written(EventKind::step_began, node, request.step.name)) ++unwritten;
      CO_TRY(co_await request.started("job of " + node));
      if (!test->written(EventKind::step_started, node, request.step.name)) ++unwritten;
      co_return StepEnd{};
    }
  } looking;
  looking.test = this;
  engine_.add(slowly(looking));

  ASSERT_TRUE(run_to_end(io_, engine_.run()));

  EXPECT_EQ(looking.unwritten, 0);
  EXPECT_EQ(slow_.most_under_way, 1);
  auto folded = initial_state(plan_);
  for (const auto& event : slow_.events) apply(folded, event);
  EXPECT_EQ(folded, engine_.state(1));
}

TEST_F(WhileAJournalWrites, TheLoopGoesOn) {
  int writes = 0;
  int went_on = 0;
  slow_.meanwhile = [&] {
    ++writes;
    asio::post(io_, [&] { went_on += slow_.under_way; });
  };
  engine_.add(slowly(steps_));

  ASSERT_TRUE(run_to_end(io_, engine_.run()));

  EXPECT_EQ(went_on, writes);
}

TEST_F(WhileAJournalWrites, WhatAPersonAsksForIsWrittenBehindIt) {
  Command pause;
  pause.run = 1;
  pause.id = 7;
  pause.kind = Command::Kind::pause;
  std::optional<Result<void>> taken;
  slow_.meanwhile = [&] {
    slow_.meanwhile = {};
    asio::co_spawn(io_, detail::run_into(taken, engine_.take(pause)),
                   [&](std::exception_ptr) { engine_.stop(Stop::interrupt); });
  };
  engine_.add(slowly(steps_));

  ASSERT_FALSE(run_to_end(io_, engine_.run()));

  ASSERT_TRUE(taken);
  EXPECT_TRUE(*taken);
  EXPECT_TRUE(engine_.state(1).paused);
  EXPECT_EQ(slow_.events.back().kind, EventKind::run_interrupted);
}

TEST_F(WhileAJournalWrites, ARunThatIsAddedIsWorkedOnToo) {
  MemoryJournal second;
  slow_.meanwhile = [&] {
    slow_.meanwhile = {};
    engine_.add({.run = 2,
                 .plan = plan_,
                 .state = initial_state(plan_),
                 .journal = second,
                 .steps = steps_,
                 .observer = observer_});
  };
  engine_.add(slowly(steps_));

  ASSERT_TRUE(run_to_end(io_, engine_.run()));

  EXPECT_EQ(slow_.events.back().kind, EventKind::run_ended);
  EXPECT_EQ(second.events.back().kind, EventKind::run_ended);
}

TEST_F(WhileAJournalWrites, AStopLetsNothingElseBegin) {
  slow_.meanwhile = [&] { engine_.stop(Stop::interrupt); };
  engine_.add(slowly(steps_));

  ASSERT_FALSE(run_to_end(io_, engine_.run()));

  EXPECT_TRUE(steps_.tries.empty());
  EXPECT_EQ(slow_.events.back().kind, EventKind::run_interrupted);
}

}  // namespace
}  // namespace cupel::engine::fixture
