#include "orchestrator/api/notice_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <random>

#include "base/json.h"

namespace cupel::api {
namespace {

using engine::WallTime;

/// By which a receiver knows a message that comes again.
std::string new_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

WallTime time_at(const json::value& value, std::string_view key) {
  return WallTime{
      std::chrono::milliseconds{static_cast<std::int64_t>(number_at(value, key).value_or(0))}};
}

json::object json_of(const Notice& notice) {
  return {{"what", notice.what},
          {"at_ms", notice.at.time_since_epoch().count()},
          {"body", notice.body}};
}

/// Those under `key`, one too many left out.
template <class Notices>
void take_notices(const json::value& value, std::string_view key, Notices& notices) {
  const auto* list = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  if (list == nullptr || !list->is_array()) return;
  for (const auto& each : list->get_array()) {
    const auto what = text_at(each, "what");
    const auto* body = cupel::find(each, "body");
    if (!what || body == nullptr || !body->is_object() || notices.size() == NoticeQueue::kMost)
      continue;
    notices.push_back({*what, time_at(each, "at_ms"), body->get_object()});
  }
}

}  // namespace

std::string Notice::text() const {
  const auto* found = body.if_contains("text");
  return found != nullptr && found->is_string() ? std::string{found->get_string()} : what;
}

bool NoticeQueue::add(Notice notice) {
  if (waiting_.size() >= kMost) {
    ++dropped_;
    return false;
  }
  waiting_.push_back(std::move(notice));
  return true;
}

std::optional<WallTime> NoticeQueue::due(const NoticeHook& hook, WallTime now) const {
  const auto held = [&](WallTime at, bool urgent) {
    return urgent ? at : quiet_until(hook, std::max(at, now));
  };
  const auto urgent = [&](const Notice& notice) { return hook.is_urgent(notice.what); };
  if (batch_) return held(batch_->next, std::ranges::any_of(batch_->notices, urgent));
  std::optional<WallTime> least;
  for (const auto& each : waiting_) {
    // One that is ahead of us was written by a clock that was wrong.
    const auto at = held(std::min(each.at, now) + hook.group, urgent(each));
    least = least ? std::min(*least, at) : at;
  }
  return least;
}

const NoticeBatch* NoticeQueue::take(const NoticeHook& hook, WallTime now) {
  const auto when = due(hook, now);
  if (!when || *when > now) return nullptr;
  if (batch_) return &*batch_;
  batch_.emplace(NoticeBatch{.id = new_id(), .dropped = std::exchange(dropped_, 0), .next = now});
  const bool urgent_alone = is_quiet(hook, now);
  std::deque<Notice> stay;
  for (auto& each : waiting_) {
    const bool is_next = batch_->notices.empty() || !hook.takes_runs();
    const bool goes = is_next && (!urgent_alone || hook.is_urgent(each.what));
    if (goes)
      batch_->notices.push_back(std::move(each));
    else
      stay.push_back(std::move(each));
  }
  waiting_ = std::move(stay);
  return &*batch_;
}

bool NoticeQueue::failed(WallTime now, std::chrono::milliseconds asked_pause, bool lasting) {
  if (!batch_) return false;
  if (lasting || ++batch_->tries >= kMostTries) {
    batch_.reset();
    return true;
  }
  const auto doubled = kFirstPause * (std::int64_t{1} << (batch_->tries - 1));
  const auto pause = std::min<std::chrono::milliseconds>(doubled, kLongestPause);
  batch_->next =
      now + std::max(pause, std::min<std::chrono::milliseconds>(asked_pause, kLongestAskedPause));
  return false;
}

json::object NoticeQueue::json() const {
  const auto list = [](const auto& notices) {
    json::array array;
    for (const auto& each : notices) array.push_back(json_of(each));
    return array;
  };
  json::object object{{"waiting", list(waiting_)}, {"dropped", dropped_}};
  if (batch_)
    object["batch"] = {{"id", batch_->id},
                       {"notices", list(batch_->notices)},
                       {"dropped", batch_->dropped},
                       {"tries", batch_->tries},
                       {"next_ms", batch_->next.time_since_epoch().count()}};
  return object;
}

NoticeQueue NoticeQueue::from(const json::value& value) {
  NoticeQueue queue;
  take_notices(value, "waiting", queue.waiting_);
  queue.dropped_ = static_cast<std::size_t>(std::max(0.0, number_at(value, "dropped").value_or(0)));
  const auto* batch = cupel::find(value, "batch");
  if (batch == nullptr) return queue;
  NoticeBatch begun{.id = text_at(*batch, "id").value_or(new_id())};
  take_notices(*batch, "notices", begun.notices);
  begun.dropped = static_cast<std::size_t>(std::max(0.0, number_at(*batch, "dropped").value_or(0)));
  begun.tries = static_cast<int>(std::clamp(number_at(*batch, "tries").value_or(0), 0.0, 100.0));
  begun.next = time_at(*batch, "next_ms");
  if (!begun.notices.empty()) queue.batch_ = std::move(begun);
  return queue;
}

}  // namespace cupel::api
