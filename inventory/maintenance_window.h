#pragma once
// A time of each week in which machines may be changed: "Sat 02:00 +6h", in UTC.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::inventory {

struct MaintenanceWindow {
  std::chrono::seconds begins{};  // behind Monday 00:00 UTC
  std::chrono::seconds lasts{};   // at most a week
  std::string text{};             // as it was written
};

/// Nothing for "any" and for an empty text: at any time. Errors: kInvalid, with an example.
Result<std::optional<MaintenanceWindow>> maintenance_window(std::string_view text);

/// How much of it is left; 0 where it is closed. One of 7 days is always open: all of it is left.
std::chrono::seconds left_of(const MaintenanceWindow& window, std::chrono::sys_seconds now);

/// When it opens next, behind `now`.
std::chrono::sys_seconds next_opening(const MaintenanceWindow& window,
                                      std::chrono::sys_seconds now);

}  // namespace cupel::inventory
