#pragma once
// Coroutines that go on beside the work for as long as it lasts, and end with it: none outlives
// end(). Not for the work itself.
#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <exception>
#include <list>
#include <utility>

#include "base/log.h"
#include "base/task.h"

namespace cupel::controller {

class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor)
      : executor_{executor}, all_gone_{executor, asio::steady_timer::time_point::max()} {}
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
          note_error(one);
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

  /// What goes on beside the work may fail; the work does not.
  static void note_error(const One& one) {
    const bool failed = one.result && !*one.result && one.result->error().code != Code::kCancelled;
    if (failed) log::warning({}, "task-ended", one.result->error().what);
  }

  asio::any_io_executor executor_;
  asio::steady_timer all_gone_;
  std::list<One> all_{};
  std::exception_ptr bug_{};
  bool ending_ = false;
};

}  // namespace cupel::controller
