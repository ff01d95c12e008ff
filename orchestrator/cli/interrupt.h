#pragma once
// Work that a person may stop with Ctrl-C: it is cancelled, cleans up, and says what it has. Not
// for runs of a playbook, which journal their end (execute.cpp).
#include <signal.h>

#include <boost/asio/signal_set.hpp>

#include "base/alarm.h"

namespace cupel::cli {

/// Says that the clean-up did not end, and ends the program as an interrupted one.
[[noreturn]] void leave_unfinished(std::chrono::seconds after);

template <class T>
struct Stopped {
  T value;
  bool interrupted = false;
};

/// Ends the program where the clean-up after a signal has not ended by then.
constexpr std::chrono::seconds kCleanUp{5};

/// Any of them, once; a second one has its default action. The alarm goes off where the clean-up
/// takes too long.
inline Task<Result<void>> until_signal(boost::asio::signal_set& signals,
                                       std::optional<Alarm>& overdue,
                                       std::chrono::seconds clean_up) {
  const auto executor = co_await asio::this_coro::executor;
  const auto [stopped, number] = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
  boost::system::error_code ignored;
  signals.clear(ignored);
  if (!stopped) overdue.emplace(executor, clean_up, [clean_up] { leave_unfinished(clean_up); });
  co_return ok();
}

/// Runs `work` to its end, or to the end of its clean-up after SIGINT, SIGTERM or SIGHUP, which has
/// to come within `clean_up`. They are heard from before `work` begins: whoever reads its first
/// line may send one at once.
template <class T>
Task<Stopped<T>> until_interrupted(Task<T> work, std::chrono::seconds clean_up = kCleanUp) {
  std::optional<Alarm> overdue;
  const auto executor = co_await asio::this_coro::executor;
  boost::asio::signal_set signals{executor, SIGINT, SIGTERM, SIGHUP};
  std::optional<T> value;
  std::optional<Result<void>> signalled;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(value, std::move(work)), asio::deferred),
      asio::co_spawn(executor,
                     detail::run_into(signalled, until_signal(signals, overdue, clean_up)),
                     asio::deferred));
  const auto [order, thrown, listener_thrown] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (thrown) std::rethrow_exception(thrown);
  if (listener_thrown) std::rethrow_exception(listener_thrown);
  co_return Stopped<T>{std::move(*value), order.front() == 1};
}

}  // namespace cupel::cli
