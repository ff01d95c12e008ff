#pragma once
// Bounded fan-out that keeps order.
#include <algorithm>
#include <cassert>
#include <vector>

#include "base/task.h"

namespace cupel {

/// Runs `verb` on every item, at most `width` at a time, and returns all outcomes in the items'
/// order. One item's failure stops nobody: the caller decides. Cancelling the caller cancels every
/// child and still waits for each to clean up.
template <class T, class Item, class Verb>
Task<std::vector<Result<T>>> for_each_of(std::vector<Item> items, std::size_t width, Verb verb) {
  assert(width > 0);
  std::vector<std::optional<Result<T>>> slots(items.size());
  std::size_t taken = 0;
  const auto executor = co_await asio::this_coro::executor;
  const auto worker = [](auto& all, auto& outcomes, auto& next, auto& act) -> Task<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    while (next < all.size()) {
      const bool stop = co_await cancelled();
      if (stop) co_return;
      const std::size_t mine = next++;
      outcomes[mine].emplace(co_await act(all[mine]));
    }
  };
  using Op = decltype(asio::co_spawn(executor, std::declval<Task<void>>(), asio::deferred));
  std::vector<Op> workers;
  for (std::size_t i = 0; i < std::min(width, items.size()); ++i)
    workers.push_back(asio::co_spawn(executor, worker(items, slots, taken, verb), asio::deferred));
  if (!workers.empty()) {
    auto all = asio::experimental::make_parallel_group(std::move(workers));
    auto [order, thrown] =
        co_await all.async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
    for (const auto& bug : thrown)
      if (bug) std::rethrow_exception(bug);
  }
  std::vector<Result<T>> outcomes;
  outcomes.reserve(items.size());
  for (auto& slot : slots) {
    if (!slot) slot.emplace(Error{Code::kCancelled, "not started"});
    outcomes.push_back(std::move(*slot));
  }
  co_return outcomes;
}

}  // namespace cupel
