// How a run is taken up again: from a snapshot and what came behind it, or from all of its events.
#include "inventory/node.h"
#include "orchestrator/engine/state_codec.h"
#include "orchestrator/store/resume.h"
#include "playbooks/plan.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {

using engine::EventKind;
using engine::StepState;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ResumeTest : public StoreTest {
 protected:
  ResumeTest() {
    node_.name = "n1";
    std::vector<playbooks::PlannedStep> steps(2);
    steps[0].name = "bmc-facts";
    steps[1].name = "power-on";
    plan_.nodes.push_back(
        {&node_, std::make_shared<const std::vector<playbooks::PlannedStep>>(std::move(steps))});
  }

  /// A run whose first step is done and whose second one was begun: events 1 to 4.
  RunId half_way(Store& store) {
    const auto run = store.begin_run(run_on({"n1"})).value();
    std::vector<Event> events{event(EventKind::run_started),
                              event(EventKind::step_began, "n1", "bmc-facts"),
                              event(EventKind::step_ended, "n1", "bmc-facts"),
                              event(EventKind::step_began, "n1", "power-on")};
    events[2].data["outcome"] = "done";
    EXPECT_TRUE(store.append(run, events));
    return run;
  }

  /// As it stood at event 3; `detail` tells whether it was read.
  engine::RunState snapshot(const std::string& detail) const {
    auto state = engine::initial_state(plan_);
    state.last_sequence = 3;
    auto& step = state.nodes.at("n1").steps[0];
    step.phase = StepState::Phase::done;
    step.detail = detail;
    return state;
  }

  static const StepState& step(const engine::RunState& state, std::size_t index) {
    return state.nodes.at("n1").steps[index];
  }

  inventory::Node node_{};
  playbooks::Plan plan_{};
};

TEST_F(ResumeTest, BuildsOnTheSnapshotAndWhatCameBehindIt) {
  const auto store = open();
  const auto run = half_way(*store);
  RunSnapshots{*store, run}.keep(3, encode(snapshot("of the snapshot")));

  const auto state = standing(*store, run, plan_);

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(step(*state, 0).detail, "of the snapshot");
  EXPECT_EQ(step(*state, 1).phase, StepState::Phase::running);
  EXPECT_EQ(state->last_sequence, 4);
}

TEST_F(ResumeTest, FoldsAllEventsWhereTheSnapshotDoesNotDecode) {
  const auto store = open();
  const auto run = half_way(*store);
  auto folded = engine::initial_state(plan_);
  for (const auto& event : store->events(run).value()) apply(folded, event);
  auto elsewhere = snapshot("stands on another event");
  elsewhere.last_sequence = 2;

  for (const auto& text : {std::string{"{\"nodes\": 7}"}, encode(elsewhere)}) {
    ASSERT_TRUE(store->keep_snapshot(run, 3, text));
    const auto state = standing(*store, run, plan_);

    ASSERT_TRUE(state) << state.error().what;
    EXPECT_EQ(*state, folded) << text;
  }
}

TEST_F(ResumeTest, RefusesABrokenChainAndSaysWhere) {
  auto store = open();
  const auto run = half_way(*store);
  RunSnapshots{*store, run}.keep(3, encode(snapshot("whole")));
  sql("UPDATE event SET data = '{\"attempt\": 7}' WHERE sequence = 4");

  const auto behind = standing(*store, run, plan_);
  sql("DELETE FROM snapshot");
  sql("UPDATE event SET node = 'n2' WHERE sequence = 2");
  const auto all = standing(*store, run, plan_);

  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, Code::kStorage);
  EXPECT_THAT(behind.error().what, AllOf(HasSubstr("run 1"), HasSubstr("event 4")));
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().what, AllOf(HasSubstr("run 1"), HasSubstr("event 2")));
}

}  // namespace
}  // namespace cupel::store
