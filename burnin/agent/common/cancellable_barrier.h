#pragma once
// A barrier for threads that work in lockstep. Unlike std::barrier it can be cancelled: a member
// that fails releases all others, and none waits for one that will not arrive.
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace cupel::agent {

class CancellableBarrier {
 public:
  explicit CancellableBarrier(std::size_t members) : members_{members} {}

  /// Waits for all members. True: all continue. False for all of them alike: the barrier was
  /// cancelled, or the last to arrive called `goes_on` and it returned false, which cancels it.
  bool arrive_and_wait(const std::function<bool()>& goes_on = {}) {
    std::unique_lock lock{mutex_};
    if (is_cancelled_) return false;
    if (++arrived_ == members_) {
      is_cancelled_ = goes_on && !goes_on();
      if (!is_cancelled_) {
        arrived_ = 0;
        ++phase_;
      }
      released_.notify_all();
      return !is_cancelled_;
    }
    // A faster member may cancel before this one wakes: the phase that was completed counts.
    const auto mine = phase_;
    released_.wait(lock, [&] { return phase_ != mine || is_cancelled_; });
    return phase_ != mine;
  }

  /// For good: releases all who wait, and all who arrive later.
  void cancel() {
    {
      const std::scoped_lock lock{mutex_};
      is_cancelled_ = true;
    }
    released_.notify_all();
  }

  bool is_cancelled() const {
    const std::scoped_lock lock{mutex_};
    return is_cancelled_;
  }

 private:
  const std::size_t members_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::size_t arrived_ = 0;
  std::uint64_t phase_ = 0;
  bool is_cancelled_ = false;
};

/// Cancels the barrier when its scope ends, however it ends.
class CancelOnExit {
 public:
  explicit CancelOnExit(CancellableBarrier& barrier) : barrier_{barrier} {}
  ~CancelOnExit() { barrier_.cancel(); }
  CancelOnExit(const CancelOnExit&) = delete;
  CancelOnExit& operator=(const CancelOnExit&) = delete;

 private:
  CancellableBarrier& barrier_;
};

}  // namespace cupel::agent
