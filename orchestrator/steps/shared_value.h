#pragma once
// What one member of a group gives to the others: once, or never.
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>

#include "base/task.h"

namespace cupel::steps {

class SharedValue {
 public:
  explicit SharedValue(const asio::any_io_executor& executor)
      : changed_{executor, asio::steady_timer::time_point::max()} {}

  /// Changes nothing once it is given up.
  void give(std::string value) {
    if (!why_) value_ = std::move(value);
    changed_.cancel();
  }
  /// It will not come: whoever waits for it gets this. The first reason counts.
  void give_up(Error why) {
    if (!value_ && !why_) why_ = std::move(why);
    changed_.cancel();
  }
  const std::optional<std::string>& value() const { return value_; }
  const std::optional<Error>& why_given_up() const { return why_; }

  /// Errors: kCancelled; whatever it was given up with.
  Task<Result<std::string>> wait() {
    while (!value_ && !why_) {
      co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
      const bool stop = co_await cancelled();
      if (stop) co_return Error{Code::kCancelled, "no longer needed"};
    }
    if (!value_) co_return *why_;
    co_return *value_;
  }

 private:
  asio::steady_timer changed_;  // never fires: it is cancelled
  std::optional<std::string> value_{};
  std::optional<Error> why_{};
};

}  // namespace cupel::steps
