#pragma once
// A few different things at once. Not for many of one kind: that is for_each_of.h.
#include <vector>

#include "base/task.h"

namespace cupel {

/// Runs them all side by side and returns when each has ended. Cancelling the caller cancels every
/// one and still waits for each to clean up.
inline Task<void> side_by_side(std::vector<Task<void>> works) {
  if (works.empty()) co_return;
  const auto executor = co_await asio::this_coro::executor;
  const auto quietly = [](Task<void> work) -> Task<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await std::move(work);
  };
  using Op = decltype(asio::co_spawn(executor, std::declval<Task<void>>(), asio::deferred));
  std::vector<Op> started;
  started.reserve(works.size());
  for (auto& work : works)
    started.push_back(asio::co_spawn(executor, quietly(std::move(work)), asio::deferred));
  auto all = asio::experimental::make_parallel_group(std::move(started));
  auto [order, thrown] =
      co_await all.async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
  for (const auto& bug : thrown)
    if (bug) std::rethrow_exception(bug);
}

}  // namespace cupel
