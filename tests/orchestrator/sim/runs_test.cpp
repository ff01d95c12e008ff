// Several runs in one engine: they share what there is, and each has its own end.
#include <gmock/gmock.h>

#include "inventory/node.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/sim/trial.h"

namespace cupel::sim {
namespace {

using engine::Event;
using engine::EventKind;
using engine::Stop;

/// A run of one step on some nodes, which takes a minute and one of two slots of the site.
struct OneRun : engine::Steps, engine::Observer {
  VirtualClock& clock;
  std::vector<std::string>& begun;  // of all runs, in order
  engine::RunId id;
  std::vector<inventory::Node> nodes;
  playbooks::Plan plan{};
  MemoryJournal journal{};
  std::function<void(const Event&)> heard{};

  OneRun(VirtualClock& its_clock, std::vector<std::string>& all, engine::RunId number,
         const std::string& name, std::size_t count)
      : clock{its_clock}, begun{all}, id{number}, nodes(count) {
    journal.clock = &clock;
    playbooks::PlannedStep step;
    step.kind = playbooks::StepKind::bmc_facts;
    step.name = "work";
    step.expected = 60s;
    step.deadline = 3600s;
    step.tries = 1;
    step.claims.push_back({"slot", playbooks::Claim::Scope::site, 1});
    const auto shared = std::make_shared<const std::vector<playbooks::PlannedStep>>(1, step);
    for (std::size_t i = 0; i < count; ++i) {
      nodes[i].name = name + std::to_string(i + 1);
      plan.nodes.push_back({&nodes[i], shared});
    }
  }

  Task<Result<engine::StepEnd>> perform(engine::StepRequest request) override {
    begun.push_back(request.node.name);
    CO_TRY(co_await clock.pause(60s));
    co_return engine::StepEnd{};
  }
  Task<Result<void>> abort(engine::StepRequest) override { co_return ok(); }
  void on_event(const Event& event, const engine::RunState&) override {
    if (heard) heard(event);
  }
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}

  void join(engine::Engine& engine) {
    engine.add({.run = id,
                .plan = plan,
                .state = engine::initial_state(plan),
                .journal = journal,
                .steps = *this,
                .observer = *this});
  }
};

class Runs : public ::testing::Test {
 protected:
  std::optional<Result<void>> work() {
    asio::io_context io;
    return run_virtually(io, clock, engine.run());
  }
  std::ptrdiff_t count(char run, std::size_t of_the_first) const {
    return std::count_if(begun.begin(), begun.begin() + static_cast<std::ptrdiff_t>(of_the_first),
                         [&](const std::string& node) { return node.front() == run; });
  }

  VirtualClock clock{};
  std::vector<std::string> begun{};
  engine::Dispatcher dispatcher{{.slots = {{"slot", 2}}}};
  engine::Engine engine{dispatcher, clock};
};

TEST_F(Runs, TakeTurnsWhereThereIsNotEnoughForBoth) {
  OneRun a{clock, begun, 1, "a", 6}, b{clock, begun, 2, "b", 6};
  a.join(engine);
  b.join(engine);

  const auto ended = work();

  ASSERT_TRUE(ended && *ended);
  ASSERT_EQ(begun.size(), 12u);
  for (std::size_t i = 2; i <= begun.size(); i += 2)
    EXPECT_EQ(count('a', i), count('b', i)) << ::testing::PrintToString(begun);
}

TEST_F(Runs, ASmallOneThatComesLaterDoesNotWaitForTheEndOfALargeOne) {
  OneRun large{clock, begun, 1, "a", 40}, small{clock, begun, 2, "b", 2};
  std::size_t before = 0;
  large.heard = [&](const Event& event) {
    if (event.kind != EventKind::step_ended || before != 0) return;
    before = begun.size();
    small.join(engine);
  };
  large.join(engine);

  const auto ended = work();

  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ(count('b', before + 4), 2) << ::testing::PrintToString(begun);
}

TEST_F(Runs, OneThatIsCancelledEndsAloneAndTheOtherGoesOn) {
  OneRun cancelled{clock, begun, 1, "a", 6}, other{clock, begun, 2, "b", 6};
  cancelled.heard = [&](const Event& event) {
    if (event.kind == EventKind::step_ended) engine.stop(1, Stop::cancel);
  };
  cancelled.join(engine);
  other.join(engine);

  const auto ended = work();

  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(cancelled.journal.events.back().kind, EventKind::run_cancelled);
  EXPECT_EQ(other.journal.events.back().kind, EventKind::run_ended);
  EXPECT_EQ(count('b', begun.size()), 6);
  EXPECT_LT(count('a', begun.size()), 6);
  EXPECT_LT(cancelled.journal.events.back().time, other.journal.events.back().time);
  EXPECT_EQ(engine.why_stopped(2), Stop::no);
}

TEST_F(Runs, AnEndedRunIsWrittenAtOnceAndNotWithTheLastOne) {
  OneRun quick{clock, begun, 1, "a", 1}, slow{clock, begun, 2, "b", 9};
  quick.join(engine);
  slow.join(engine);

  const auto ended = work();

  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ(quick.journal.events.back().kind, EventKind::run_ended);
  EXPECT_EQ(quick.journal.events.back().time - quick.journal.events.front().time, 60s);
}

}  // namespace
}  // namespace cupel::sim
