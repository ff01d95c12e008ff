#include "burnin/agent/burn/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <list>
#include <optional>

#include "base/json.h"
#include "burnin/agent/burn/stop.h"

namespace cupel::burn {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fake {
  Watchdog::Clock::time_point now{};
  Watchdog watchdog{seconds{60}, [this] { return now; }};
};

TEST(BurnWatchdog, WhoMakesNoProgressIsLateWithWhatItWasDoing) {
  Fake fake;
  WatchdogScope scope{fake.watchdog, "gpu3"};
  scope.doing("gemm bf16", 17);

  fake.now += seconds{59};
  EXPECT_TRUE(fake.watchdog.hangs().empty());
  fake.now += seconds{1};
  const auto hangs = fake.watchdog.hangs();

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu3");
  EXPECT_EQ(hangs[0].doing, "gemm bf16 round 17");
  EXPECT_EQ(hangs[0].seconds, 60);
}

TEST(BurnWatchdog, ProgressStartsTheCountAgain) {
  Fake fake;
  WatchdogScope scope{fake.watchdog, "gpu0"};
  scope.doing("hbm random", 1);
  fake.now += seconds{50};
  scope.alive();
  fake.now += seconds{50};

  EXPECT_TRUE(fake.watchdog.hangs().empty());
}

TEST(BurnWatchdog, WhoRestsBetweenTwoBeatsIsNotLate) {
  Fake fake;
  WatchdogScope scope{fake.watchdog, "gpu0"};
  scope.doing("gemm bf16", 1);
  scope.idle();
  fake.now += seconds{600};

  EXPECT_TRUE(fake.watchdog.hangs().empty());
}

TEST(BurnWatchdog, NamesTheOneThatStoppedWhereTheOthersGoOn) {
  Fake fake;
  WatchdogScope first{fake.watchdog, "gpu0"};
  WatchdogScope second{fake.watchdog, "gpu1"};
  second.doing("gemm bf16", 4);
  fake.now += seconds{55};
  first.doing("gemm bf16", 5);
  fake.now += seconds{5};

  const auto hangs = fake.watchdog.hangs();

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu1");
  EXPECT_THAT(hangs[0].late, ::testing::ElementsAre("gpu1"));
  EXPECT_EQ(fake.watchdog.doing().round, 4);
}

TEST(BurnWatchdog, AsksGpusInOneStepWhichHasNotReachedTheOthers) {
  Fake fake;
  std::list<WatchdogScope> scopes;
  std::list<StepPosition> positions;
  for (int gpu = 0; gpu < 8; ++gpu) {
    auto& scope = scopes.emplace_back(fake.watchdog, "gpu" + std::to_string(gpu));
    positions.emplace_back(scope, [gpu] { return std::optional<std::uint64_t>{gpu == 5 ? 3 : 7}; });
    scope.doing("training step", 9);
    fake.now += milliseconds{1};  // the guilty one is not the first
  }
  fake.now += seconds{60};

  const auto hangs = fake.watchdog.hangs();

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu5");
  EXPECT_THAT(hangs[0].late, ::testing::ElementsAre("gpu5"));
}

TEST(BurnWatchdog, DoesNotAskAGpuWhosePositionHasEnded) {
  Fake fake;
  WatchdogScope scope{fake.watchdog, "gpu0"};
  scope.doing("training step", 1);
  bool asked = false;
  {
    const StepPosition position{scope, [&]() -> std::optional<std::uint64_t> {
                                  asked = true;
                                  return std::nullopt;
                                }};
  }
  fake.now += seconds{60};

  EXPECT_EQ(fake.watchdog.hangs().size(), 1);
  EXPECT_FALSE(asked);
}

TEST(BurnWatchdog, WhoLeftIsNotWaitedFor) {
  Fake fake;
  {
    WatchdogScope scope{fake.watchdog, "gpu0"};
    scope.doing("gemm bf16", 1);
  }
  fake.now += seconds{600};

  EXPECT_TRUE(fake.watchdog.hangs().empty());
  EXPECT_EQ(fake.watchdog.doing().what, "waiting");
}

TEST(BurnVigil, ReportsAHangWithAnIncompleteEnd) {
  std::promise<void> ended;
  std::vector<std::string> lines;
  Report report{[&](std::string_view line) { lines.emplace_back(line); }};
  Watchdog watchdog{seconds{0}};
  WatchdogScope scope{watchdog, "gpu3"};
  scope.doing("gemm fp8", 2);
  {
    const WatchdogThread watching{watchdog, report, 300, [&] { ended.set_value(); },
                                  milliseconds{1}};
    ASSERT_EQ(ended.get_future().wait_for(seconds{60}), std::future_status::ready);
  }

  ASSERT_EQ(lines.size(), 2);
  EXPECT_THAT(lines[0],
              ::testing::StartsWith(
                  R"({"kind":"hang","part":"gpu3","doing":"gemm fp8 round 2","seconds":)"));
  EXPECT_THAT(lines[1], ::testing::HasSubstr(R"("complete":false)"));
}

TEST(BurnVigil, TheHeartbeatSaysWhatTheSlowestDoes) {
  std::promise<std::string> reported;
  bool first = true;
  Report report{[&](std::string_view line) {
    if (std::exchange(first, false)) reported.set_value(std::string{line});
  }};
  Watchdog watchdog{seconds{60}};
  WatchdogScope ahead{watchdog, "gpu0"};
  WatchdogScope behind{watchdog, "gpu1"};
  ahead.doing("gemm fp8", 9);
  behind.doing("gemm bf16", 8);
  const WatchdogThread watching{watchdog, report, 300, [] {}, milliseconds{1}};

  auto line = reported.get_future();
  ASSERT_EQ(line.wait_for(seconds{60}), std::future_status::ready);
  EXPECT_THAT(line.get(),
              ::testing::AllOf(::testing::HasSubstr(R"("kind":"progress")"),
                               ::testing::HasSubstr(R"("of":300)"),
                               ::testing::HasSubstr(R"("round":8,"doing":"gemm bf16")")));
}

TEST(BurnStop, ASignalWakesWhoWaitsAtOnce) {
  Stop stop{seconds{60}};
  stop.listen();
  EXPECT_FALSE(stop.over());
  auto waiting = std::async(std::launch::async, [&] { return stop.wait_until(stop.deadline()); });

  ::raise(SIGTERM);

  ASSERT_EQ(waiting.wait_for(seconds{60}), std::future_status::ready);
  EXPECT_FALSE(waiting.get());
  EXPECT_TRUE(stop.over());
  EXPECT_TRUE(stop.by_signal());
}

TEST(BurnStop, ASecondSignalWithinSecondsIsTheSameRequest) {
  EXPECT_EXIT(
      {
        Stop stop{seconds{60}};
        stop.listen();
        ::raise(SIGTERM);
        ::raise(SIGTERM);
        ::raise(SIGINT);
        ::_exit(stop.by_signal() ? 4 : 2);
      },
      testing::ExitedWithCode(4), "");
}

TEST(BurnStop, ASignalAfterThoseSecondsEndsTheProgram) {
  EXPECT_EXIT(
      {
        Stop stop{seconds{60}};
        stop.listen(Stop::Clock::duration{0});
        ::raise(SIGTERM);
        const auto first = Stop::Clock::now();
        while (Stop::Clock::now() == first) continue;
        ::raise(SIGTERM);
        ::_exit(4);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(BurnStop, WhenTheTimeIsOverItWasNoSignal) {
  Stop stop{milliseconds{1}};

  EXPECT_FALSE(stop.wait_until(Stop::Clock::now() + seconds{60}));
  EXPECT_TRUE(stop.over());
  EXPECT_FALSE(stop.by_signal());
}

TEST(BurnStop, AMomentBeforeTheEndIsWaitedForInFull) {
  Stop stop{seconds{60}};
  const auto moment = Stop::Clock::now() + milliseconds{20};

  EXPECT_TRUE(stop.wait_until(moment));
  EXPECT_GE(Stop::Clock::now(), moment);
}

TEST(BurnStop, GivingUpEndsAllWaits) {
  Stop stop{seconds{60}};
  stop.give_up();

  EXPECT_FALSE(stop.wait_until(stop.deadline()));
  EXPECT_FALSE(stop.by_signal());
}

}  // namespace
}  // namespace cupel::burn
