// A breaker that draws more than it may: the youngest load is ended, says so, and comes again.
#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/power_node.h"
#include "tests/orchestrator/sim/trial.h"

namespace cupel::sim {
namespace {

using engine::Event;
using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kSoak = 5;

/// Two of three nodes may soak behind each breaker; as soon as two do behind the first one, the
/// elder of them draws 1.5 kW more than its profile says.
class Shed : public ::testing::Test {
 protected:
  Shed() {
    trial.on_event = [this](engine::Engine& engine, const Event& event) {
      engine_ = &engine;
      if (event.step == "soak") note(event);
      if (!shed.empty() && trial.world.watts_behind("b0") > limit()) over_again = true;
    };
    trial.world.on_heavy_job = [this](const std::string& node) {
      if (trial.rack.inventory.node(node)->feeds.front() != "b0") return;
      loaded.push_back(node);
      if (loaded.size() != 2) return;
      trial.world.make_hungry(loaded[0], 1500);
      was_over = trial.world.watts_behind("b0") > limit();
      engine_->measured(loaded[0], trial.world.draw(loaded[0]));
    };
  }

  double limit() const {
    return std::ranges::find(trial.rack.inventory.power, "b0", &inventory::PowerNode::name)->watts;
  }
  void note(const Event& event) {
    if (event.kind == EventKind::step_shed) shed.push_back(event.node);
    if (event.kind == EventKind::step_began && !shed.empty()) begun_after.push_back(event.node);
    if (event.kind == EventKind::step_retried) ++retried;
  }

  Trial trial{1, 6, {}, 2.2};
  std::vector<std::string> loaded{}, shed{}, begun_after{};
  bool was_over = false, over_again = false;
  int retried = 0;

 private:
  engine::Engine* engine_ = nullptr;
};

TEST_F(Shed, EndsTheYoungestAndBeginsItAgainWhenThereIsRoom) {
  const auto ends = trial.control();

  ASSERT_TRUE(ends.ended && *ends.ended);
  trial.check_end(ends.state);
  EXPECT_THAT(trial.complaints, IsEmpty());
  EXPECT_TRUE(was_over);
  ASSERT_GE(loaded.size(), 4u);
  EXPECT_THAT(shed, ElementsAre(loaded[1]));
  EXPECT_THAT(begun_after, ::testing::Contains(loaded[1]));
  for (const auto& [name, machine] : trial.world.machines) EXPECT_TRUE(machine.in_slurm) << name;
}

TEST_F(Shed, LeavesNoBreakerAboveItsWattsOnceItIsWritten) {
  trial.control();

  ASSERT_TRUE(was_over);
  EXPECT_FALSE(over_again);
}

TEST_F(Shed, IsNoTryOfTheStep) {
  const auto ends = trial.control();

  ASSERT_EQ(shed.size(), 1u);
  const auto& step = ends.state.nodes.at(shed[0]).steps[kSoak];
  EXPECT_EQ(step.attempt, 2);
  EXPECT_EQ(step.tries, 0);
  EXPECT_EQ(step.retries, 0);
  EXPECT_EQ(retried, 0);
}

}  // namespace
}  // namespace cupel::sim
