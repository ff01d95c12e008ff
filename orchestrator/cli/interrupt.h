#pragma once
// Work that a person may stop with Ctrl-C: it is cancelled, cleans up, and says what it has. Not
// for runs of a playbook, which journal their end (execute.cpp).
#include <signal.h>

#include <boost/asio/signal_set.hpp>

#include "base/task.h"

namespace cupel::cli {

template <class T>
struct Stopped {
  T value;
  bool interrupted = false;
};

/// Any of SIGINT, SIGTERM and SIGHUP, once.
inline Task<Result<void>> until_signal() {
  boost::asio::signal_set signals{co_await asio::this_coro::executor, SIGINT, SIGTERM, SIGHUP};
  co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return ok();
}

/// Runs `work` to its end, or to the end of its clean-up after a signal.
template <class T>
Task<Stopped<T>> until_interrupted(Task<T> work) {
  const auto executor = co_await asio::this_coro::executor;
  std::optional<T> value;
  std::optional<Result<void>> signalled;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(value, std::move(work)), asio::deferred),
      asio::co_spawn(executor, detail::run_into(signalled, until_signal()), asio::deferred));
  const auto [order, thrown, listener_thrown] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (thrown) std::rethrow_exception(thrown);
  if (listener_thrown) std::rethrow_exception(listener_thrown);
  co_return Stopped<T>{std::move(*value), order.front() == 1};
}

}  // namespace cupel::cli
