#pragma once
// Time that passes when nothing else is left to do: a day in a moment, and the same every time.
#include <gtest/gtest.h>

#include <map>

#include "orchestrator/engine/clock.h"

namespace cupel::sim {

class VirtualClock final : public engine::Clock {
 public:
  Time now() const override { return now_; }
  engine::WallTime wall() const override {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(now_ - Time{});
    return engine::WallTime{std::chrono::hours{24 * 365 * 56}} + since + wall_offset_;
  }
  /// Somebody sets the clock on the wall.
  void set_wall(std::chrono::milliseconds by) { wall_offset_ += by; }

  Task<Result<void>> pause_until(Time when) override {
    if (when <= now_) co_return ok();
    asio::steady_timer signal{co_await asio::this_coro::executor,
                              asio::steady_timer::time_point::max()};
    const std::pair mine{when, ++last_};
    sleepers_.emplace(mine, &signal);
    co_await signal.async_wait(asio::as_tuple(asio::use_awaitable));
    const bool slept = sleepers_.erase(mine) == 0;
    if (!slept) co_return Error{Code::kCancelled, "stopped while waiting"};
    co_return ok();
  }
  Task<Result<void>> pause(std::chrono::milliseconds time) { return pause_until(now_ + time); }

  /// To the next moment at which somebody wakes. False: nobody sleeps.
  bool advance() {
    if (sleepers_.empty()) return false;
    now_ = std::max(now_, sleepers_.begin()->first.first);
    while (!sleepers_.empty() && sleepers_.begin()->first.first <= now_) {
      sleepers_.begin()->second->cancel();
      sleepers_.erase(sleepers_.begin());
    }
    return true;
  }
  /// The process that slept is gone.
  void forget_sleepers() { sleepers_.clear(); }

 private:
  Time now_{std::chrono::hours{1}};
  std::chrono::milliseconds wall_offset_{0};
  std::uint64_t last_ = 0;
  std::map<std::pair<Time, std::uint64_t>, asio::steady_timer*> sleepers_{};
};

/// Runs a task to its end in virtual time. Nothing if it has none within `limit`: it is stuck.
template <class T>
std::optional<T> run_virtually(asio::io_context& io, VirtualClock& clock, Task<T> task,
                               std::chrono::hours limit = std::chrono::hours{24 * 90}) {
  std::optional<T> slot;
  std::exception_ptr bug;
  const auto last = clock.now() + limit;
  asio::co_spawn(io, detail::run_into(slot, std::move(task)),
                 [&](std::exception_ptr thrown) { bug = thrown; });
  for (;;) {
    io.restart();
    io.poll();
    if (bug) std::rethrow_exception(bug);
    if (slot) return slot;
    if (!clock.advance() || clock.now() > last) return std::nullopt;
  }
}

}  // namespace cupel::sim
