#pragma once
// Where threads that work in step meet before each step. Unlike std::barrier, whoever cannot go on
// leaves, and then all others are told to end: nobody waits for one who will not come.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace cupel::burn {

class Meeting {
 public:
  explicit Meeting(int members) : members_{members} {}

  /// Waits for all. True: they go on; false, for all of them alike: one has left, or the last to
  /// arrive asked `goes_on` and it said no.
  bool arrive(const std::function<bool()>& goes_on = {}) {
    std::unique_lock lock{mutex_};
    if (is_over_) return false;
    if (++arrived_ == members_) {
      is_over_ = goes_on && !goes_on();
      if (!is_over_) {
        arrived_ = 0;
        ++meetings_;
      }
      all_there_.notify_all();
      return !is_over_;
    }
    // Whoever goes on faster may have left by the time that this one wakes: the meeting counts.
    const auto mine = meetings_;
    all_there_.wait(lock, [&] { return meetings_ != mine || is_over_; });
    return meetings_ != mine;
  }

  /// For good.
  void leave() {
    {
      const std::scoped_lock lock{mutex_};
      is_over_ = true;
    }
    all_there_.notify_all();
  }

  bool is_over() const {
    const std::scoped_lock lock{mutex_};
    return is_over_;
  }

 private:
  const int members_;
  mutable std::mutex mutex_;
  std::condition_variable all_there_;
  int arrived_ = 0;
  std::uint64_t meetings_ = 0;
  bool is_over_ = false;
};

/// Leaves when its scope ends, however it ends.
class Attendance {
 public:
  explicit Attendance(Meeting& meeting) : meeting_{meeting} {}
  ~Attendance() { meeting_.leave(); }
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

 private:
  Meeting& meeting_;
};

}  // namespace cupel::burn
