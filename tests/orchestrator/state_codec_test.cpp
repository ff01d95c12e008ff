// The text of a snapshot: what it is, byte for byte, and that a damaged one is refused.
#include "orchestrator/engine/state_codec.h"

#include <gtest/gtest.h>

#include "inventory/node.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

using std::chrono::milliseconds;

class StateCodec : public ::testing::Test {
 protected:
  StateCodec() {
    node_.name = "n1";
    std::vector<playbooks::PlannedStep> steps(3);
    steps[0].name = "power-on";
    steps[1].name = "gpu-burn";
    steps[2].name = "verdict";
    plan_.nodes.push_back(
        {&node_, std::make_shared<const std::vector<playbooks::PlannedStep>>(std::move(steps))});
  }

  /// Every member of it is set.
  RunState state() const {
    auto state = initial_state(plan_);
    state.phase = RunPhase::interrupted;
    state.began = WallTime{milliseconds{1'000}};
    state.ended = WallTime{milliseconds{2'000}};
    state.paused = true;
    state.halts = {{"", "canary"}, {"gpu-burn", "3 of 4"}};
    state.tallies = {{"power-on", {4, 1}}};
    state.wave = 8;
    state.pardoned = 4;
    state.last_command = 17;
    state.last_sequence = 12'345'678'901;
    state.strangers = {"n9"};
    auto& node = state.nodes.at("n1");
    node.facts = {{"bmc.vendor", "HPE"}};
    node.steps[0] = {.phase = StepState::Phase::failed,
                     .attempt = 3,
                     .tries = 2,
                     .retries = 1,
                     .outcome = Outcome::needs_operator,
                     .detail = "no \"power\"",
                     .began = WallTime{milliseconds{1'100}},
                     .ended = WallTime{milliseconds{1'900}},
                     .ssh_lost = true,
                     .counted = StepState::Counted::failed};
    node.steps[1] = {.phase = StepState::Phase::running,
                     .attempt = 1,
                     .handle = "burn.1",
                     .began = WallTime{milliseconds{1'200}},
                     .until = WallTime{milliseconds{1'500}},
                     .pause = milliseconds{300},
                     .spent = milliseconds{250},
                     .overdue = true};
    return state;
  }

  static constexpr std::string_view kText =
      R"({"version":2,"phase":"interrupted","began":1000,"ended":2000,"paused":true,)"
      R"("halts":{"":"canary","gpu-burn":"3 of 4"},"tallies":{"power-on":[4,1]},"wave":8,)"
      R"("pardoned":4,"last_command":17,"last_sequence":12345678901,"strangers":["n9"],)"
      R"("lists":[["power-on","gpu-burn","verdict"]],"nodes":{"n1":{"list":0,"steps":[)"
      R"([0,3,3,2,1,"needs operator",1100,1900,0,0,0,false,null,"no \"power\"",true,2],)"
      R"([1,1,1,0,0,"done",1200,0,1500,300,250,true,"burn.1","",false,0]],)"
      R"("facts":{"bmc.vendor":"HPE"}}}})";

  /// The text with one piece of it replaced.
  Result<RunState> decoded_with(std::string_view from, std::string_view to) const {
    std::string text{kText};
    const auto at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    return decode(text, plan_);
  }

  inventory::Node node_{};
  playbooks::Plan plan_{};
};

TEST_F(StateCodec, WritesEachStepThatHasBegunAsOneRow) { EXPECT_EQ(encode(state()), kText); }

TEST_F(StateCodec, ReadsWhatItWrites) {
  const auto read = decode(kText, plan_);

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, state());
}

TEST_F(StateCodec, RefusesAFieldOfAnotherTypeOrOutOfItsBounds) {
  const std::vector<std::pair<std::string_view, std::string_view>> damages{
      {"\"version\":2", "\"version\":1"},
      {"\"interrupted\"", "\"asleep\""},
      {"\"began\":1000", "\"began\":\"1000\""},
      {"\"paused\":true", "\"paused\":1"},
      {"\"canary\"", "7"},
      {"[4,1]", "[4]"},
      {"\"wave\":8,", ""},
      {"[\"n9\"]", "[9]"},
      {"[\"power-on\",", "[null,"},
      {"\"list\":0", "\"list\":1"},
      {"[0,3,3,2,1,", "[3,3,3,2,1,"},   // a step that the list does not have
      {"[0,3,3,2,1,", "[0,5,3,2,1,"},   // no such phase
      {"[0,3,3,2,1,", "[0,3,-1,2,1,"},  // attempts
      {"[0,3,3,2,1,", "[0,3,3,2,4294967296,"},
      {"[0,3,3,2,1,", "[0,3,3,2,1.5,"},
      {"[0,3,3,2,1,", "[0,3,3,2,"},
      {"\"needs operator\"", "\"needs luck\""},
      {"false,null", "0,null"},
      {"\"no \\\"power\\\"\"", "null"},
      {"\"\",false,0]", "\"\",0,0]"},
      {"\"\",false,0]", "\"\",false]"},
      {"true,2]", "true,3]"},  // no such count
      {"\"HPE\"", "[]"}};

  for (const auto& [from, to] : damages) EXPECT_FALSE(decoded_with(from, to)) << from << to;
}

TEST_F(StateCodec, LeavesOutAStepThatThePlanDoesNotHave) {
  const auto read = decoded_with("[\"power-on\",", "[\"power-off\",");

  ASSERT_TRUE(read);
  EXPECT_EQ(read->nodes.at("n1").steps[0], StepState{});
  EXPECT_EQ(read->nodes.at("n1").steps[1], state().nodes.at("n1").steps[1]);
}

}  // namespace
}  // namespace cupel::engine
