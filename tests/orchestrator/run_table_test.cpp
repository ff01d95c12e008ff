// What a person sees of a run on a terminal: what each node waits for, and the command that goes
// on.
#include "orchestrator/report/run_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <deque>
#include <tuple>

#include "inventory/node.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::report {
namespace {

using engine::StepState;
using playbooks::StepKind;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Phase = StepState::Phase;

constexpr engine::WallTime kNow{std::chrono::hours{500'000}};

playbooks::PlannedStep step(StepKind kind, const std::string& name, int minutes = 1) {
  playbooks::PlannedStep planned;
  planned.kind = kind;
  planned.name = name;
  planned.expected = std::chrono::minutes{minutes};
  return planned;
}

/// Nodes that power on, wait for approval and burn.
struct Bench {
  explicit Bench(std::size_t count) {
    auto approval = step(StepKind::approval, "go");
    approval.with["message"] = "look at the sensors first";
    const auto steps = std::make_shared<const std::vector<playbooks::PlannedStep>>(std::vector{
        step(StepKind::power_on, "power-on"), approval, step(StepKind::stage, "gemm", 600)});
    plan.playbook = "new-rack";
    for (std::size_t i = 1; i <= count; ++i) {
      auto& node = nodes.emplace_back();
      node.name = fmt::format("a01-n{:03}", i);
    }
    for (const auto& node : nodes) plan.nodes.push_back({&node, steps});
    state = engine::initial_state(plan);
  }

  StepState& at(std::size_t node, std::size_t index) {
    return state.nodes.find(nodes[node].name)->second.steps[index];
  }
  void run(std::size_t node, std::size_t index, std::chrono::minutes since) {
    at(node, index).phase = Phase::running;
    at(node, index).began = kNow - since;
  }
  RunTable table() { return {5, plan, state, doing, held, note, kNow}; }
  std::vector<std::string> lines(std::size_t rows = 23, std::size_t columns = 79) {
    return drawn(table(), rows, columns).lines;
  }

  std::deque<inventory::Node> nodes{};
  playbooks::Plan plan{};
  engine::RunState state{};
  NodeWords doing{};
  NodeWords held{};
  std::string note{};
};

TEST(RunTable, NamesTheCommandThatReleasesAHalt) {
  Bench bench{2};
  bench.state.halts["power-on"] = "2 of 4 nodes failed";

  EXPECT_THAT(notes_of(bench.table()),
              ElementsAre("halted at power-on: 2 of 4 nodes failed; look, then: cupel continue 5 "
                          "power-on"));
  EXPECT_EQ(waits_for(bench.table(), 0), "halted: cupel continue 5 power-on");
}

TEST(RunTable, NamesTheStateFolderThatCommandsDoNotFind) {
  Bench halted{2}, canary{6}, approval{2}, paused{2};
  halted.state.halts["power-on"] = "2 of 4 nodes failed";
  canary.plan.canary = {1};
  canary.state.wave = 1;
  canary.state.halts[""] = "1 of 1 nodes of the canary failed";
  approval.at(0, 0).phase = Phase::done;
  paused.state.paused = true;

  for (const auto& [bench, node, command] :
       {std::tuple{&halted, 0U, "cupel --state /r/state continue 5 power-on"},
        {&canary, 1U, "cupel --state /r/state continue 5"},
        {&approval, 0U, "cupel --state /r/state approve 5"},
        {&paused, 0U, "cupel --state /r/state unpause 5"}}) {
    auto table = bench->table();
    table.state_to_name = "/r/state";
    table.view = {.has_keys = true, .help = true};
    EXPECT_THAT(waits_for(table, node), EndsWith(command));
    EXPECT_THAT(notes_of(table), Contains(HasSubstr(command)));
    EXPECT_THAT(drawn(table, 23, 300).lines,
                Contains(HasSubstr("(cupel --state /r/state resume 5 goes on)")));
  }
}

TEST(RunTable, ShowsWhoWaitsForTheCanaryAndThatItHasHalted) {
  Bench bench{6};
  bench.plan.canary = {1};
  bench.state.wave = 1;
  bench.run(0, 0, std::chrono::minutes{1});
  const auto before = waits_for(bench.table(), 1);

  bench.at(0, 0).phase = Phase::failed;
  bench.state.halts[""] = "1 of 1 nodes of the canary failed";

  EXPECT_EQ(before, "canary: the first 1 of 6");
  EXPECT_EQ(waits_for(bench.table(), 1), "halted: cupel continue 5");
  EXPECT_THAT(bench.lines(), Contains("halted behind the canary: 1 of 1 nodes of the canary "
                                      "failed; look, then:"));
}

TEST(RunTable, ShowsWhatThePlaybookSaysToWhoeverApproves) {
  Bench bench{2};
  bench.at(0, 0).phase = Phase::done;

  EXPECT_EQ(waits_for(bench.table(), 0), "approval: cupel approve 5");
  EXPECT_THAT(
      notes_of(bench.table()),
      ElementsAre("1 node waits for approval: look at the sensors first: cupel approve 5 go"));
}

TEST(RunTable, ShowsAPauseAndABreakerThatIsFull) {
  Bench bench{2};
  bench.held["a01-n002"] = "breaker a01/p1/b1: 2.4 of 2 kW taken";
  const auto blocked = waits_for(bench.table(), 1);
  const auto notes = notes_of(bench.table());

  bench.state.paused = true;

  EXPECT_EQ(blocked, "breaker a01/p1/b1: 2.4 of 2 kW taken");
  EXPECT_THAT(notes, ElementsAre("blocked: breaker a01/p1/b1: 2.4 of 2 kW taken (1 node, a01-n002 "
                                 "first)"));
  EXPECT_EQ(waits_for(bench.table(), 1), "paused: cupel unpause 5");
}

TEST(RunTable, SaysThatNoPlaceIsFree) {
  Bench bench{3};
  bench.plan.nodes_at_once = 1;
  bench.run(0, 0, std::chrono::minutes{1});

  EXPECT_EQ(waits_for(bench.table(), 2), "a slot: 1 nodes work");
}

TEST(RunTable, MarksAStepThatIsLateAndNoLongerCountsItDown) {
  Bench bench{1};
  bench.at(0, 0).phase = Phase::done;
  bench.at(0, 1).phase = Phase::done;
  bench.run(0, 2, std::chrono::minutes{20 * 60});
  bench.at(0, 2).overdue = true;
  bench.doing["a01-n001"] = "gemm (20 h of 24 h)";

  EXPECT_THAT(bench.lines().back(),
              AllOf(HasSubstr("20:00:00"), HasSubstr(" 0:00+"), HasSubstr("overdue: gemm")));
}

TEST(RunTable, CountsByStepAndByVerdict) {
  Bench bench{300};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t each = 0; each < 3; ++each) bench.at(i, each).phase = Phase::done;
    auto& node = bench.state.nodes.find(bench.nodes[i].name)->second;
    node.facts[std::string{engine::kVerdictFact}] = i == 0 ? "fail" : "pass";
  }
  bench.run(3, 0, std::chrono::minutes{1});
  bench.run(4, 0, std::chrono::minutes{1});

  const auto lines = bench.lines();

  EXPECT_EQ(lines[0], "run 5 new-rack: 3 of 300 nodes through: 2 pass, 1 fail");
  EXPECT_EQ(lines[1], "2 at work: 2 power-on; 295 wait");
  EXPECT_THAT(lines, SizeIs(23));
  EXPECT_EQ(lines.back(), "nodes 1 to 19 of 300, failed first");
}

/// A step that failed stands on top as soon as it has, though its node goes on, and in the head.
TEST(RunTable, ShowsFirstWhoHasAFailedStepAndCountsItInTheHead) {
  Bench bench{300};
  bench.at(250, 0).phase = Phase::failed;
  bench.run(250, 2, std::chrono::minutes{1});
  bench.run(3, 0, std::chrono::minutes{1});

  const auto lines = bench.lines();

  EXPECT_EQ(lines[0], "run 5 new-rack: 0 of 300 nodes through: 1 with a failed step");
  EXPECT_THAT(lines[3], HasSubstr("a01-n251"));
  EXPECT_THAT(lines[4], HasSubstr("a01-n004"));
}

TEST(RunTable, IsScrolledToItsEndAndNotBeyond) {
  Bench bench{300};
  auto table = bench.table();
  table.view = {.first = 10, .order = Order::by_name, .has_keys = true};
  const auto middle = drawn(table, 23, 79);
  table.view.first = 1000;
  const auto end = drawn(table, 23, 79);

  EXPECT_EQ(middle.first, 10u);
  EXPECT_THAT(middle.lines[3], HasSubstr("a01-n011"));
  EXPECT_EQ(middle.lines.back(), "nodes 11 to 29 of 300, by name; arrows scroll, s sorts, ? keys");
  EXPECT_EQ(end.first, 281u);
  EXPECT_EQ(end.shown, 19u);
  EXPECT_THAT(end.lines[21], HasSubstr("a01-n300"));
}

TEST(RunTable, TellsItsKeysWhereSomebodyAsked) {
  Bench bench{300};
  auto table = bench.table();
  table.view = {.order = Order::by_step, .has_keys = true, .help = true};
  const auto asked = drawn(table, 23, 119).lines;
  table.view.has_keys = false;
  const auto nobody = drawn(table, 23, 119).lines;

  EXPECT_THAT(asked, AllOf(Contains(HasSubstr("keys: arrows")),
                           Contains(HasSubstr("cupel resume 5 goes on"))));
  EXPECT_THAT(asked.back(), HasSubstr("furthest behind first; arrows scroll, s sorts, ? keys"));
  EXPECT_THAT(nobody, Not(Contains(HasSubstr("keys: arrows"))));
}

TEST(RunTable, IsSortedByStepWithTheFurthestBehindFirst) {
  Bench bench{3};
  for (const std::size_t node : {0, 1}) bench.at(node, 0).phase = Phase::done;
  bench.at(0, 1).phase = Phase::done;
  auto table = bench.table();
  table.view.order = Order::by_step;

  const auto lines = drawn(table, 23, 79).lines;

  ASSERT_GE(lines.size(), 3u);
  EXPECT_THAT(lines[lines.size() - 3], HasSubstr("a01-n003"));
  EXPECT_THAT(lines[lines.size() - 1], HasSubstr("a01-n001"));
}

TEST(RunTable, FitsIntoAnyTerminal) {
  Bench bench{40};
  bench.plan.canary = {1};
  bench.state.halts[""] = "1 of 1 nodes of the canary failed";
  bench.state.halts["power-on"] = "12 of 40 nodes failed; it stops after 12";
  bench.state.paused = true;
  bench.note = "waits until 2026-11-22T20:00:00Z for repairs: cupel actions 5";
  bench.run(0, 0, std::chrono::minutes{1});
  bench.doing["a01-n001"] = "POST (2:10 of 15:00)";

  for (const std::size_t columns : {8, 20, 39, 59, 79, 119, 199})
    for (const std::size_t rows : {1, 5, 10, 23, 60}) {
      const auto lines = bench.lines(rows, columns);

      EXPECT_LE(lines.size(), rows) << columns << " columns";
      for (const auto& line : lines) EXPECT_LE(line.size(), columns) << rows << " rows: " << line;
    }
}

TEST(RunTable, GivesTheReasonOfANodeThatIsThroughTheRoomOfTheTimesAndOfItsName) {
  Bench bench{1};
  for (std::size_t each = 0; each < 3; ++each) bench.at(0, each).phase = Phase::done;
  bench.at(0, 0).phase = Phase::failed;
  bench.at(0, 0).detail =
      "inconclusive: a01-n001: connect 10.0.0.5:443: timed out; xa01-n001: kept";

  EXPECT_THAT(bench.lines(23, 119).back(),
              EndsWith("  inconclusive: connect 10.0.0.5:443: timed out; xa01-n001: kept"));
  EXPECT_THAT(bench.lines(23, 79).back(), HasSubstr("connect 10.0.0.5:443: timed"));
}

TEST(RunTable, LeavesOutTimesBeforeItLeavesOutWhatIsWaitedFor) {
  Bench bench{1};
  bench.run(0, 0, std::chrono::minutes{1});
  bench.doing["a01-n001"] = "POST (2:10 of 15:00)";

  EXPECT_THAT(bench.lines(23, 79).back(), AllOf(HasSubstr("1:00"), HasSubstr("POST (2:10 of")));
  EXPECT_THAT(bench.lines(23, 45).back(), AllOf(Not(HasSubstr("1:00")), HasSubstr("POST (2:10")));
}

}  // namespace
}  // namespace cupel::report
