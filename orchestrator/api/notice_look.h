#pragma once
// What has come to pass since the last look that people should know of: from the journals of runs,
// the controller's status and the book of schedules, into the queues of the hooks that take it.
#include "orchestrator/api/notice_book.h"
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

/// A book that begins now: nothing that is over raises a notice. Errors: kStorage.
Result<NoticeBook> begin_notices(RequestHandler& handler);

/// Reads what was written since, and moves the book. Errors: kStorage: what was read until then is
/// in the queues, and the book says so.
Result<void> look_for_notices(RequestHandler& handler, const std::vector<NoticeHook>& hooks,
                              NoticeBook& book, engine::WallTime now);

}  // namespace cupel::api
