#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/orchestrator/sim/trial.h"

namespace cupel::sim {
namespace {

using ::testing::IsEmpty;

/// What goes wrong in an ordinary rack.
constexpr Weather kOrdinary{
    .transient = 0.1, .hang = 0.01, .reject = 0.02, .hands = 0.01, .hungry = 0.02};

constexpr Weather kHardToReach{.transient = 0.4, .hang = 0.01, .hungry = 0.02};

TEST(Crash, AWholeRunNeedsNoneAndHandsEveryNodeOver) {
  Trial trial;

  ASSERT_TRUE(trial.to_the_end());

  EXPECT_THAT(trial.complaints, IsEmpty());
  for (const auto& [name, machine] : trial.world.machines) EXPECT_TRUE(machine.in_slurm) << name;
}

TEST(Crash, AtEveryWriteTheRunGoesOnAsIfNothingHadBeen) {
  Trial whole;
  ASSERT_TRUE(whole.to_the_end());
  ASSERT_GT(whole.journal.writes, 100);

  for (std::size_t at = 1; at <= whole.journal.writes; ++at)
    for (const bool after_fsync : {false, true}) {
      Trial trial;
      trial.journal.crash_at = at;
      trial.journal.after_fsync = after_fsync;

      ASSERT_TRUE(trial.to_the_end());

      ASSERT_THAT(trial.complaints, IsEmpty()) << "write " << at << ", durable: " << after_fsync;
      for (const auto& [name, machine] : trial.world.machines)
        ASSERT_TRUE(machine.in_slurm) << name << ", write " << at << ", durable: " << after_fsync;
    }
}

TEST(Crash, ACancelAtAnyMomentLeavesNoJobOnAnyNode) {
  Trial whole{1, 3};
  ASSERT_TRUE(whole.to_the_end());
  const auto events = whole.journal.events.size();
  ASSERT_GT(events, 50);

  for (std::size_t at = 1; at < events; ++at) {
    Trial trial{1, 3, {.transient = 0.3}};
    trial.cancel_at = at;

    ASSERT_TRUE(trial.to_the_end());

    ASSERT_THAT(trial.complaints, IsEmpty()) << "event " << at;
  }
}

TEST(Crash, WhileARunIsBeingCancelledLeavesNoJobOnAnyNodeEither) {
  Trial whole{1, 3};
  ASSERT_TRUE(whole.to_the_end());
  const auto events = whole.journal.events.size();

  for (std::size_t at = 1; at < events; at += 3)
    for (std::size_t write = 1; write <= 12; ++write) {
      Trial trial{1, 3, {.transient = 0.3}};
      trial.cancel_at = at;
      trial.on_event = [&](engine::Engine&, const engine::Event&) {
        const bool now = trial.journal.crash_at == 0 && trial.journal.events.size() >= at;
        if (!now) return;
        trial.journal.crash_at = trial.journal.writes + write;
        // Who comes next looks at what was asked for a moment later.
        trial.cancel_at = at + 2 * write;
      };

      ASSERT_TRUE(trial.to_the_end());

      ASSERT_THAT(trial.complaints, IsEmpty()) << "event " << at << ", write " << write;
    }
}

/// One seed is one run: its weather, its crashes, and how the wall clock was set meanwhile.
struct Seeded {
  Trial trial;
  bool ended = false;

  /// Behind the breakers of half of the racks two nodes may work; a third of them is hard to reach,
  /// and of some somebody cancels the run.
  explicit Seeded(std::uint64_t seed)
      : trial{seed, 6, seed % 3 == 0 ? kHardToReach : kOrdinary, seed % 2 == 0 ? 1.5 : 2.2} {
    std::mt19937_64 random{seed ^ 0x9e3779b97f4a7c15};
    if (seed % 5 == 0) trial.cancel_at = 1 + random() % 150;
    const auto crashes = 2 + random() % 2;
    std::size_t at = 0;
    for (std::size_t i = 0; i <= crashes; ++i) {
      at += 1 + random() % 60;
      trial.journal.crash_at = i < crashes ? at : 0;
      trial.journal.after_fsync = random() % 2 == 0;
      const auto ends = trial.control();
      at = trial.journal.writes;
      trial.clock.set_wall(std::chrono::seconds{static_cast<int>(random() % 20'000) - 10'000});
      if (ends.crashed) continue;
      const bool cancelled = ends.state.phase == engine::RunPhase::cancelled;
      if (cancelled) trial.check_cancelled(ends.state);
      if (ends.ended && *ends.ended) trial.check_end(ends.state);
      ended = ends.ended && (*ends.ended || cancelled);
      return;
    }
  }
};

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Seeds, TheSameSeedIsTheSameRunToTheLastByte) {
  const Seeded one{42};
  const Seeded two{42};

  EXPECT_EQ(one.trial.transcript(), two.trial.transcript());
  EXPECT_GT(one.trial.transcript().size(), 100);
}

TEST(Seeds, KeepEveryPromiseThroughSeveralCrashes) {
  const auto only = number("CUPEL_SIM_SEED", 0);
  const auto time = std::chrono::seconds{number("CUPEL_SIM_SECONDS", 2)};
  const auto end = std::chrono::steady_clock::now() + time;

  auto seed = only != 0 ? only : std::random_device{}();
  std::size_t tried = 0;
  do {
    const Seeded run{seed};
    ++tried;
    ASSERT_TRUE(run.ended && run.trial.complaints.empty())
        << ::testing::PrintToString(run.trial.complaints) << "\nagain with: CUPEL_SIM_SEED=" << seed
        << " build/dev/tests/sim_test --gtest_filter=Seeds.Keep*";
    ++seed;
  } while (only == 0 && std::chrono::steady_clock::now() < end);
  RecordProperty("seeds", static_cast<int>(tried));
  std::printf("%zu seeds held\n", tried);
}

}  // namespace
}  // namespace cupel::sim
