#pragma once
// Coroutines as this house uses them: one door to spawn, cancellation as a value, deadlines as
// points in time that are handed down. Not a scheduler: Asio's io_context is.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>

#include "base/result.h"

namespace cupel {
namespace asio = boost::asio;

template <class T>
using Task = asio::awaitable<T>;

/// A point in time after which an answer is of no use. A callee may shorten it, never lengthen it.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline in(std::chrono::milliseconds patience) {
    return Deadline{Clock::now() + patience};
  }
  static Deadline at(Clock::time_point when) { return Deadline{when}; }

  Clock::time_point when() const { return when_; }
  bool passed() const { return Clock::now() >= when_; }
  /// Never negative.
  std::chrono::milliseconds left() const {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(when_ - Clock::now());
    return std::max(rest, std::chrono::milliseconds{0});
  }
  /// This deadline, or `patience` from now, whichever comes first.
  Deadline sooner(std::chrono::milliseconds patience) const {
    return Deadline{std::min(when_, Clock::now() + patience)};
  }

 private:
  explicit Deadline(Clock::time_point when) : when_{when} {}
  Clock::time_point when_;
};

/// True once someone above has cancelled this coroutine. Loops ask before they take the next item.
inline Task<bool> cancelled() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

namespace detail {
/// The one door through which coroutines are spawned. Cancellation is a value in here (kCancelled):
/// nothing throws, so clean-up code may await like any other code.
template <class T>
Task<void> run_into(std::optional<T>& slot, Task<T> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  slot.emplace(co_await std::move(work));
}
}  // namespace detail

/// Sleeps. Errors: kCancelled. The only timer that our code may wait on.
Task<Result<void>> pause_for(std::chrono::milliseconds pause);

/// Awaits `work` until `deadline`; then cancels it and waits for its clean-up.
/// Errors: kTimeout, or whatever `work` returns. A bug thrown by `work` is thrown at once.
/// Not `work || timer`: Asio's operator waits for a success, so a throw would look like a timeout.
template <class T>
Task<Result<T>> with_deadline(Deadline deadline, Task<Result<T>> work) {
  const auto executor = co_await asio::this_coro::executor;
  const auto patience = deadline.left();
  asio::steady_timer timer{executor, deadline.when()};
  std::optional<Result<T>> result;
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(result, std::move(work)), asio::deferred),
      timer.async_wait(asio::deferred));
  const auto [order, thrown, timer_stopped] =
      co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  if (thrown) std::rethrow_exception(thrown);
  const bool timed_out = order.front() == 1 && !timer_stopped;
  if (timed_out)
    co_return Error{Code::kTimeout, "no answer in " + std::to_string(patience.count()) + " ms"};
  co_return std::move(*result);
}

/// Runs a task on an io_context of its own until it ends: for main() and for tests.
template <class T>
T run_to_end(asio::io_context& io, Task<T> task) {
  std::optional<T> slot;
  std::exception_ptr bug;
  asio::co_spawn(io, detail::run_into(slot, std::move(task)), [&](std::exception_ptr thrown) {
    bug = thrown;
    io.stop();
  });
  io.restart();
  io.run();
  if (bug) std::rethrow_exception(bug);
  return std::move(*slot);
}

}  // namespace cupel
