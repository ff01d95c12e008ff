#pragma once
// What waits to be sent to one hook: grouped, held in quiet hours, tried again with growing pauses,
// given up. Pure: the time comes from outside.
#include <boost/json/object.hpp>
#include <deque>

#include "orchestrator/api/notice_settings.h"

namespace cupel::api {

struct Notice {
  std::string what{};          // of kNoticeKinds
  engine::WallTime at{};       // when it came into the queue
  boost::json::object body{};  // as a webhook gets it: printable and bounded
  std::string text() const;    // its one line for people
};

/// What is sent as one. It stays the same over its tries, and so does its id.
struct NoticeBatch {
  std::string id{};
  std::vector<Notice> notices{};
  std::size_t dropped = 0;  // further ones that found the queue full
  int tries = 0;            // that failed
  engine::WallTime next{};  // not before
};

class NoticeQueue {
 public:
  /// False: the queue is full, and the next batch counts it.
  bool add(Notice notice);

  /// When there is something to do; nothing: nothing waits. May be behind `now`.
  std::optional<engine::WallTime> due(const NoticeHook& hook, engine::WallTime now) const;
  /// What is to be sent at `now`; nullptr: nothing yet. Valid until another call.
  const NoticeBatch* take(const NoticeHook& hook, engine::WallTime now);

  void sent() { batch_.reset(); }
  /// `lasting`: another try would fail in the same way. `asked_pause`: how long the other side
  /// wants to be left alone. Returns whether the batch was given up.
  bool failed(engine::WallTime now, std::chrono::milliseconds asked_pause, bool lasting);

  /// Notices that are not delivered yet.
  std::size_t size() const { return waiting_.size() + (batch_ ? batch_->notices.size() : 0); }
  /// How often what is to be sent next has failed.
  int tries() const { return batch_ ? batch_->tries : 0; }

  boost::json::object json() const;
  /// Tolerant of what is absent.
  static NoticeQueue from(const boost::json::value& value);

  static constexpr std::size_t kMost = 100;
  static constexpr int kMostTries = 10;  // about an hour
  static constexpr std::chrono::seconds kFirstPause{15}, kLongestPause{900},
      kLongestAskedPause{3600};

 private:
  std::deque<Notice> waiting_{};
  std::size_t dropped_ = 0;
  std::optional<NoticeBatch> batch_{};
};

}  // namespace cupel::api
