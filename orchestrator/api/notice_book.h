#pragma once
// Up to where the service has read for notices, and what of it is not delivered yet, in a file of
// the state folder: a restart loses nothing, and reads nothing twice.
#include <filesystem>
#include <map>

#include "base/result.h"
#include "orchestrator/api/notice_queue.h"

namespace cupel::api {

struct NoticeBook {
  engine::RunId newest = 0;                             // later runs are read from their beginning
  std::map<engine::RunId, std::int64_t> runs{};         // that may go on: the last event read
  std::map<std::string, engine::WallTime> schedules{};  // by name: the last time that was looked at
  std::set<std::string> approvals{};                    // "12/approve": told, and still waiting
  std::map<std::string, NoticeQueue> queues{};          // by the hook's name

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
