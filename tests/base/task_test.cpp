#include "base/task.h"

#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <stdexcept>

#include "base/alarm.h"

namespace cupel {
namespace {

using namespace std::chrono_literals;

/// Waits until it is cancelled, then cleans up, which takes a moment too.
Task<Result<int>> until_cancelled(bool& cleaned) {
  const auto paused = co_await pause_for(1h);
  const bool stop = co_await cancelled();
  cleaned = stop;
  co_return std::move(paused).error();
}

Task<Result<int>> answer() { co_return 42; }

Task<Result<int>> bug() {
  CO_TRY(co_await pause_for(1ms));
  throw std::logic_error{"a bug"};
}

Task<Result<int>> bounded(Deadline deadline, Task<Result<int>> work) {
  return with_deadline(deadline, std::move(work));
}

TEST(Deadline, IsShortenedAndNeverLengthened) {
  const auto soon = Deadline::in(1s);

  EXPECT_EQ(soon.sooner(1h).when(), soon.when());
  EXPECT_LT(soon.sooner(1ms).when(), soon.when());
  EXPECT_EQ(Deadline::in(-1s).left(), 0ms);
  EXPECT_TRUE(Deadline::in(-1s).passed());
}

TEST(WithDeadline, ReturnsWhatTheWorkReturns) {
  asio::io_context io;
  EXPECT_EQ(run_to_end(io, bounded(Deadline::in(1h), answer())).value(), 42);
}

TEST(WithDeadline, CancelsTheWorkAndWaitsForItsCleanUp) {
  asio::io_context io;
  bool cleaned = false;

  const auto result = run_to_end(io, bounded(Deadline::in(1ms), until_cancelled(cleaned)));

  EXPECT_EQ(result.error().code, Code::kTimeout);
  EXPECT_TRUE(cleaned);
}

TEST(WithDeadline, ABugIsNoTimeout) {
  asio::io_context io;
  EXPECT_THROW(static_cast<void>(run_to_end(io, bounded(Deadline::in(1h), bug()))),
               std::logic_error);
}

TEST(WithDeadline, TheOuterDeadlineCancelsTheInner) {
  asio::io_context io;
  bool cleaned = false;
  auto inner = bounded(Deadline::in(1h), until_cancelled(cleaned));

  const auto result = run_to_end(io, bounded(Deadline::in(1ms), std::move(inner)));

  EXPECT_EQ(result.error().code, Code::kTimeout);
  EXPECT_TRUE(cleaned);
}

TEST(Alarm, ActsOnceAndOnlyWhileItIsThere) {
  asio::io_context io;
  int kept = 0, gone = 0;

  const Alarm alarm{io.get_executor(), 1ms, [&kept] { ++kept; }};
  {
    const Alarm left{io.get_executor(), 1ms, [&gone] { ++gone; }};
  }
  io.run();

  EXPECT_EQ(kept, 1);
  EXPECT_EQ(gone, 0);
}

/// Work that takes as long as its alarm, which writes into the work's own frame.
Task<Result<void>> end_with_the_alarm(int& late) {
  int acted = 0;
  bool over = false;
  const auto act = [&] {
    ++acted;
    if (over) ++late;
  };
  {
    const Alarm alarm{co_await asio::this_coro::executor, 1ms, act};
    CO_TRY(co_await pause_for(1ms));
    over = true;
  }
  co_return ok();
}

TEST(Alarm, IsGoneWithTheWorkThatEndsInTheSameMoment) {
  constexpr int kTimes = 10'000;
  asio::io_context io;
  int late = 0, ended = 0;
  for (int i = 0; i < kTimes; ++i)
    asio::co_spawn(io, end_with_the_alarm(late),
                   [&ended](std::exception_ptr bug, const Result<void>& result) {
                     if (!bug && result) ++ended;
                   });

  io.run();

  EXPECT_EQ(ended, kTimes);
  EXPECT_EQ(late, 0);
}

}  // namespace
}  // namespace cupel
