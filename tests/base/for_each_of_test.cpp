#include "base/for_each_of.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

using namespace std::chrono_literals;

std::vector<int> up_to(int last) {
  std::vector<int> all;
  for (int i = 1; i <= last; ++i) all.push_back(i);
  return all;
}

struct Load {
  int now = 0;
  int most = 0;
};

/// Later items end earlier.
Task<Result<int>> square(Load& load, int number) {
  load.most = std::max(load.most, ++load.now);
  const auto moment = std::chrono::milliseconds{number % 3};
  CO_TRY(co_await pause_for(moment));
  --load.now;
  if (number == 4) co_return Error{Code::kFailed, "four"};
  co_return number* number;
}

struct LongWaits {
  asio::steady_timer both_wait;  // cancelled where two have begun
  int begun = 0, ended = 0;
};

Task<Result<int>> wait_long(LongWaits& waits, int) {
  if (++waits.begun == 2) waits.both_wait.cancel();
  auto paused = co_await pause_for(1h);
  ++waits.ended;
  co_return std::move(paused).error();
}

Task<Result<std::vector<Result<int>>>> as_result(Task<std::vector<Result<int>>> work) {
  co_return co_await std::move(work);
}

TEST(ForEachOf, KeepsOrderAndWidthAndGoesOnAfterAFailure) {
  asio::io_context io;
  Load load;

  const auto all = run_to_end(
      io, for_each_of<int>(up_to(10), 3, [&](int number) { return square(load, number); }));

  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[3].error().what, "four");
  EXPECT_EQ(all[9].value(), 100);
  EXPECT_EQ(all[0].value(), 1);
  EXPECT_EQ(load.most, 3);
}

TEST(ForEachOf, OfNothingIsNothing) {
  asio::io_context io;
  Load load;
  const auto verb = [&](int number) { return square(load, number); };

  EXPECT_TRUE(run_to_end(io, for_each_of<int>(std::vector<int>{}, 3, verb)).empty());
}

// Named apart, since a deadline around it would lose the outcomes.
Task<std::vector<Result<int>>> stopped_where_two_wait(LongWaits& waits) {
  const auto executor = co_await asio::this_coro::executor;
  const auto verb = [&waits](int number) { return wait_long(waits, number); };
  std::optional<Result<std::vector<Result<int>>>> outcomes;
  auto work = as_result(for_each_of<int>(up_to(5), 2, verb));
  auto race = asio::experimental::make_parallel_group(
      waits.both_wait.async_wait(asio::deferred),
      asio::co_spawn(executor, detail::run_into(outcomes, std::move(work)), asio::deferred));
  co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  co_return std::move(*outcomes).value();
}

TEST(ForEachOf, CancelledItEndsWhatRunsAndStartsNothing) {
  asio::io_context io;
  LongWaits waits{asio::steady_timer{io, asio::steady_timer::time_point::max()}};

  const auto all = run_to_end(io, stopped_where_two_wait(waits));

  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(waits.ended, 2);
  for (const auto& each : all) EXPECT_EQ(each.error().code, Code::kCancelled);
  EXPECT_EQ(all[4].error().what, "not started");
}

}  // namespace
}  // namespace cupel
