#pragma once
// Up to where the service has read for notices, and what of it is not delivered yet, in a file of
// the state folder: a restart loses nothing, and reads nothing twice.
#include <filesystem>
#include <map>

#include "base/result.h"
#include "orchestrator/api/notice_queue.h"

namespace cupel::api {

/// What became of the notices for a hook since it is in the settings.
struct NoticeTally {
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;                   // given up, or left out of a full queue
  engine::WallTime sent_at{}, failed_at{};  // the newest message; the epoch: none
  std::string why{};                        // of the newest failure; names no secret
  friend bool operator==(const NoticeTally&, const NoticeTally&) = default;
};

struct NoticeBook {
  engine::RunId newest = 0;                             // later runs are read from their beginning
  std::map<engine::RunId, std::int64_t> runs{};         // that may go on: the last event read
  std::map<std::string, engine::WallTime> schedules{};  // by name: the last time that was looked at
  std::set<std::string> approvals{};                    // "12/approve": reported, and still waiting
  std::map<std::string, NoticeQueue> queues{};          // by the hook's name
  std::map<std::string, NoticeTally> tallies{};         // likewise

  /// Drops those of hooks that are no longer in the settings.
  void keep_only(const std::vector<NoticeHook>& hooks);
};

/// Nothing where there is none. Errors: kStorage; kMalformed: the file is not one of ours.
Result<std::optional<NoticeBook>> read_notice_book(const std::filesystem::path& state);
std::string to_text(const NoticeBook& book);
/// `text` as to_text() makes it; durable before it returns. Errors: kStorage.
Result<void> write_notice_book(const std::filesystem::path& state, const std::string& text);
void remove_notice_book(const std::filesystem::path& state);

}  // namespace cupel::api
