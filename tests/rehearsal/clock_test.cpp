#include "rehearsal/clock.h"

#include "rehearsal/rack_timer.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using namespace std::chrono_literals;

/// Works for so long, as a tool that computes.
void work_for(std::chrono::milliseconds span) {
  const auto until = Clock::Real::now() + span;
  while (Clock::Real::now() < until) {
  }
}

TEST(RackClock, IsFasterThanLifeWhileItsLoopWaits) {
  const Clock clock{1000};

  work_for(20ms);

  EXPECT_GE(clock.elapsed(), VirtualTime{20});
  EXPECT_EQ(clock.lost(), VirtualTime{0});
}

TEST(RackClock, IsAsFastAsLifeWhileItsLoopWorks) {
  Clock clock{1'000'000};
  clock.work();
  const auto began = Clock::Real::now();
  const auto before = clock.elapsed();

  work_for(20ms);

  const auto passed = clock.elapsed() - before;
  EXPECT_GE(passed, VirtualTime{0.02});
  const VirtualTime of_ours = Clock::Real::now() - began;
  EXPECT_LE(passed, of_ours);
  EXPECT_GT(clock.lost(), VirtualTime{10'000});
}

TEST(RackClock, NeverPassesATimerThatNobodyHasComeTo) {
  Clock clock{1'000'000};
  const auto when = clock.elapsed() + VirtualTime{500};
  auto due = std::make_unique<Clock::Due>(clock, when);

  work_for(20ms);

  EXPECT_EQ(clock.elapsed(), when + Clock::kLate);
  const auto freed = Clock::Real::now();
  due.reset();
  const auto after = clock.elapsed();
  const VirtualTime since = clock.speed() * VirtualTime{Clock::Real::now() - freed};
  EXPECT_LE(after, when + Clock::kLate + since) << "what was passed over stays so";
}

TEST(RackClock, NeverGoesBack) {
  Clock clock{1'000'000};
  work_for(1ms);
  const auto before = clock.elapsed();

  const Clock::Due long_over{clock, VirtualTime{0}};

  EXPECT_GE(clock.elapsed(), before);
}

TEST(RackClock, LetsNapsGrowWithThoseWhoTakeThem) {
  const Clock clock{1000};
  std::vector<VirtualTime> naps;
  for (int i = 0; i < 1000; ++i) naps.push_back(clock.shortest_nap());

  EXPECT_EQ(naps[0], VirtualTime{0});
  EXPECT_EQ(naps[50], VirtualTime{0}) << "a few are as long as they say";
  EXPECT_GT(naps[500], VirtualTime{500}) << "2 ms of ours for each after these";
  EXPECT_LE(naps[999], VirtualTime{1000}) << "a second of ours at most";
}

TEST(RackTimers, FireInTheOrderOfTheRacksTimeHoweverLateTheLoopIs) {
  asio::io_context io{1};
  const Clock clock{100'000};
  RackTimer late{io.get_executor(), clock}, early{io.get_executor(), clock};
  std::vector<std::pair<std::string, VirtualTime>> fired;
  late.start(VirtualTime{3600}, [&] { fired.emplace_back("late", clock.elapsed()); });
  early.start(VirtualTime{60}, [&] { fired.emplace_back("early", clock.elapsed()); });

  work_for(100ms);  // 10,000 s of the rack's time
  io.run();

  ASSERT_EQ(fired.size(), 2);
  EXPECT_EQ(fired[0].first, "early");
  EXPECT_LT(fired[0].second, VirtualTime{3600}) << "100 ms of ours are 10,000 s of the rack's";
  EXPECT_EQ(fired[1].first, "late");
  EXPECT_GE(fired[1].second, VirtualTime{3600});
}

TEST(RackTimers, DoNothingOnceTheyAreCancelledOrStartedAgain) {
  asio::io_context io{1};
  const Clock clock{100'000};
  RackTimer timer{io.get_executor(), clock};
  std::string reported;
  timer.start(VirtualTime{1}, [&] { reported += "first"; });
  timer.start(VirtualTime{1}, [&] { reported += "second"; });
  auto other = std::make_unique<RackTimer>(io.get_executor(), clock);
  other->start(VirtualTime{1}, [&] { reported += "other"; });
  other.reset();

  io.run();

  EXPECT_EQ(reported, "second");
}

TEST(RackTime, ATimeoutEndsWhatSleepsLongerAlsoWhereTheLoopIsLate) {
  Bench bench{{}, 100'000};

  const auto ran = bench.sh("timeout 3600 sleep 30; echo $?; timeout 60 sleep 90; echo $?");

  EXPECT_EQ(ran.out, "0\n124\n");
}

}  // namespace
}  // namespace cupel::rehearsal
