#pragma once
// Coroutines that go on beside the work for as long as it lasts, and end with it: none outlives
// end(). Not for the work itself.
#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/task.h"

namespace cupel::controller {

class TaskGroup {
 public:
  /// Called where one of them ends by itself with an error or a bug. Without it the others go on.
  using Lost = std::function<void(const Error&)>;

  explicit TaskGroup(asio::any_io_executor executor, Lost lost = {})
      : executor_{executor},
        all_gone_{executor, asio::steady_timer::time_point::max()},
        lost_{std::move(lost)} {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  void start(Task<Result<void>> work) {
    auto& one = all_.emplace_back();
    auto task = detail::run_into(one.result, std::move(work));
    asio::co_spawn(
        executor_, std::move(task),
        asio::bind_cancellation_slot(one.stop.slot(), [this, &one](std::exception_ptr thrown) {
          if (thrown && !bug_) bug_ = thrown;
          one.ended = true;
          const auto error = error_of(one, thrown);
          if (error) log::warning({}, "task-ended", error->what);
          if (error && lost_ && !ending_) lost_(*error);
          if (ending_) all_gone_.cancel();
        }));
  }

  /// Cancels all of them, and returns at once. Again: nothing, since they clean up.
  void cancel() {
    if (std::exchange(ending_, true)) return;
    for (auto& one : all_)
      if (!one.ended) one.stop.emit(asio::cancellation_type::terminal);
  }
  /// None of them goes on.
  bool ended() const {
    return std::ranges::all_of(all_, [](const One& one) { return one.ended; });
  }
  /// The first bug that one of them threw; nullptr: none did.
  std::exception_ptr bug() const { return bug_; }

  /// Cancels all of them and waits for their clean-up. A bug that one of them threw is thrown here.
  Task<void> end() {
    cancel();
    while (!ended()) co_await all_gone_.async_wait(asio::as_tuple(asio::use_awaitable));
    all_.clear();
    if (bug_) std::rethrow_exception(bug_);
  }

 private:
  struct One {
    asio::cancellation_signal stop{};
    std::optional<Result<void>> result{};
    bool ended = false;
  };

  /// Nothing where it ended well, or because it was to.
  static std::optional<Error> error_of(const One& one, std::exception_ptr thrown) {
    if (thrown) return error_of(std::move(thrown));
    const bool failed = one.result && !*one.result && one.result->error().code != Code::kCancelled;
    return failed ? std::optional{one.result->error()} : std::nullopt;
  }
  static Error error_of(std::exception_ptr thrown) {
    std::string what = "of unknown kind";
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const std::exception& bug) {
      what = bug.what();
    } catch (...) {
    }
    return {Code::kFailed, "this is a fault of Cupel: " + what};
  }

  asio::any_io_executor executor_;
  asio::steady_timer all_gone_;
  std::list<One> all_{};
  Lost lost_;
  std::exception_ptr bug_{};
  bool ending_ = false;
};

}  // namespace cupel::controller
