#pragma once
// Starts what the site's schedules say, as if somebody had asked the API for it.
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

/// Starts each schedule that became due since it was last looked at; each at most once for a due
/// time. One that is seen for the first time begins with its next due time. What could not be
/// started is logged and kept in the book, never tried again for that time.
void start_due(RequestHandler& handler, engine::WallTime now);

/// How long until there is something to look at: to the next due time, and a minute at most, since
/// clocks are set and settings change.
std::chrono::milliseconds until_next(const SiteSettings& settings, engine::WallTime now);

}  // namespace cupel::api
