#pragma once
// All at once, and all or none: what several do together is of no use once one of them is out of
// it. For work in which one failure stops nobody see for_each_of.h and side_by_side.h.
#include <optional>
#include <vector>

#include "base/task.h"

namespace cupel {

namespace detail {
/// Cancels the others as soon as one has failed.
struct UntilOneFails {
  asio::cancellation_type_t operator()(const std::exception_ptr& bug, int failed) const noexcept {
    return bug || failed != 0 ? asio::cancellation_type::terminal : asio::cancellation_type::none;
  }
};
}  // namespace detail

/// Runs `verb` on every item, all of them at the same time. The first that fails cancels the others
/// and still waits for each to clean up. Errors: the first's; else all values in the items' order.
template <class T, class Item, class Verb>
Task<Result<std::vector<T>>> all_or_none(std::vector<Item> items, Verb verb) {
  std::vector<std::optional<Result<T>>> slots(items.size());
  const auto executor = co_await asio::this_coro::executor;
  const auto worker = [](auto& item, auto& slot, auto& act) -> Task<int> {
    co_await asio::this_coro::throw_if_cancelled(false);
    slot.emplace(co_await act(item));
    co_return slot->has_value() ? 0 : 1;
  };
  using Op = decltype(asio::co_spawn(executor, std::declval<Task<int>>(), asio::deferred));
  std::vector<Op> workers;
  for (std::size_t i = 0; i < items.size(); ++i)
    workers.push_back(asio::co_spawn(executor, worker(items[i], slots[i], verb), asio::deferred));
  std::vector<std::size_t> order;
  if (!workers.empty()) {
    auto all = asio::experimental::make_parallel_group(std::move(workers));
    auto [ended, thrown, failed] =
        co_await all.async_wait(detail::UntilOneFails{}, asio::use_awaitable);
    for (const auto& bug : thrown)
      if (bug) std::rethrow_exception(bug);
    order = std::move(ended);
  }
  for (const auto item : order)
    if (!slots[item]->has_value()) co_return std::move(*slots[item]).error();
  std::vector<T> values;
  values.reserve(slots.size());
  for (auto& slot : slots) values.push_back(*std::move(*slot));
  co_return values;
}

}  // namespace cupel
