#include "base/task.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace cupel
