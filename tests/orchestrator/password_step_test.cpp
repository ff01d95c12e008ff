// The step that changes a BMC's password, done by the engine over a real store.
#include <gmock/gmock.h>
#include <stdlib.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/steps/node_steps.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/support/captures.h"
#include "tests/support/guarded_bmc.h"

namespace cupel::steps {
namespace {

using engine::Event;
using engine::EventKind;
using engine::StepState;
using ::testing::HasSubstr;
using ::testing::Not;

/// Keeps events in memory; refuses to write once `room` is used up, as a full disk does.
struct MemoryJournal : engine::Journal {
  std::vector<Event> events{};
  std::size_t room = 1'000'000;

  Task<Result<void>> append(std::span<Event> more) override {
    if (events.size() + more.size() > room) co_return Error{Code::kStorage, "disk full"};
    for (auto& event : more) {
      event.sequence = static_cast<std::int64_t>(events.size()) + 1;
      events.push_back(event);
    }
    co_return ok();
  }
};

struct Silent : engine::Observer {
  void on_event(const Event&, const engine::RunState&) override {}
  void on_waiting(std::string_view, std::string_view, std::string_view) override {}
};

class PasswordStepTest : public ::testing::Test {
 protected:
  PasswordStepTest() {
    ::setenv("CUPEL_TEST_OURS", "ours", 1);
    ::setenv("CUPEL_TEST_FACTORY", "factory", 1);
    node.name = "a01-n01";
    node.bmc.user = "admin";
    node.bmc.password = {inventory::SecretRef::Kind::env, "CUPEL_TEST_OURS"};
    node.bmc.factory =
        inventory::FactoryLogin{"admin", {inventory::SecretRef::Kind::env, "CUPEL_TEST_FACTORY"}};
    playbooks::PlannedStep step;
    step.kind = playbooks::StepKind::bmc_password;
    step.name = "bmc-password";
    step.deadline = std::chrono::seconds{30};
    step.tries = 3;
    plan.nodes.push_back(
        {&node, std::make_shared<const std::vector<playbooks::PlannedStep>>(std::vector{step})});
  }

  Result<void> run() {
    auto state = engine::initial_state(plan);
    for (const auto& event : journal.events) apply(state, event);
    NodeSteps steps{doors()};
    Silent silent;
    asio::io_context io;
    engine::Dispatcher dispatcher;
    engine::RealClock clock;
    engine::Engine engine{dispatcher, clock};
    engine.add({.run = 1,
                .plan = plan,
                .state = std::move(state),
                .journal = journal,
                .steps = steps,
                .observer = silent,
                .backoff = {std::chrono::milliseconds{1}, std::chrono::milliseconds{2}}});
    auto ended = run_to_end(io, engine.run());
    last = engine.state(1).nodes.at(node.name).steps.front();
    return ended;
  }
  StepEnvironment doors() {
    return {
        inventory,
        *store,
        [this](const inventory::Node&) { return std::make_unique<test::GuardedBmc>(bmc, "ours"); },
        {},
        nullptr,
        [this](const inventory::Node&, const inventory::FactoryLogin&) {
          return std::make_unique<test::GuardedBmc>(bmc, "factory");
        },
        [this](const inventory::Node&) { ++forgotten; }};
  }

  test::TemporaryFolder folder;
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  inventory::Inventory inventory;
  inventory::Node node;
  playbooks::Plan plan;
  MemoryJournal journal;
  test::Guarded bmc;
  StepState last;
  int forgotten = 0;
};

TEST_F(PasswordStepTest, ChangesTheFactorysPasswordAndLeavesNoSecretInTheJournal) {
  ASSERT_TRUE(run());

  EXPECT_EQ(last.phase, StepState::Phase::done);
  EXPECT_EQ(bmc.password, "ours");
  EXPECT_FALSE(store->pinned("rotation:a01-n01"));
  for (const auto& event : journal.events)
    EXPECT_THAT(boost::json::serialize(event.data), Not(HasSubstr("\"ours")));
}

TEST_F(PasswordStepTest, HasNothingToDoWhereTheInventoryNamesNoFactoryLogin) {
  node.bmc.factory.reset();

  ASSERT_TRUE(run());

  EXPECT_EQ(last.phase, StepState::Phase::done);
  EXPECT_EQ(bmc.acts, 0);
}

TEST_F(PasswordStepTest, EndsAtOnceWhereNeitherPasswordIsRight) {
  bmc.password = "somebody else's";

  ASSERT_TRUE(run());

  EXPECT_EQ(last.phase, StepState::Phase::failed);
  EXPECT_EQ(bmc.refused, 2) << "each once, and not again by itself";
}

TEST_F(PasswordStepTest, TriesAgainWhereTheAnswerWasLost) {
  bmc.loses_answer_of_change = true;

  ASSERT_TRUE(run());

  EXPECT_EQ(last.phase, StepState::Phase::done);
  EXPECT_EQ(last.attempt, 2);
  EXPECT_EQ(bmc.changes, 1);
  EXPECT_GE(forgotten, 1);
}

/// The contract: a crash after any write of the journal or at any act on the BMC.
TEST_F(PasswordStepTest, ACrashAnywhereEndsWithTheNewPasswordInPlace) {
  ASSERT_TRUE(run());
  const auto writes = journal.events.size();
  const int acts = bmc.acts;

  for (int at = 0; at < static_cast<int>(writes) + 2 * acts; ++at) {
    journal = {};
    bmc = {};
    const int act = at - static_cast<int>(writes);
    if (act < 0) {
      journal.room = static_cast<std::size_t>(at);
    } else {
      bmc.crash_at = act / 2;
      bmc.effective = act % 2 == 1;
    }
    const auto crashed = run();
    const bool over = last.over();
    journal.room = 1'000'000;
    bmc.crash_at = -1;

    const auto resumed = run();

    EXPECT_FALSE(crashed && over) << at << ": nothing crashed";
    ASSERT_TRUE(resumed) << at << ": " << resumed.error().what;
    EXPECT_EQ(last.phase, StepState::Phase::done) << at << ": " << last.detail;
    EXPECT_EQ(bmc.password, "ours") << at;
    EXPECT_LE(bmc.refused, 2) << at;
    EXPECT_FALSE(store->pinned("rotation:a01-n01")) << at;
  }
}

}  // namespace
}  // namespace cupel::steps
