#include "inventory/maintenance_window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utc.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

using std::chrono::days;
using std::chrono::seconds;

constexpr seconds kWeek = days{7};
/// 1970-01-01 was a Thursday.
constexpr seconds kMondayBeforeTheEpoch = days{3};
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

/// How long ago it opened last.
seconds since_opening(const MaintenanceWindow& window, std::chrono::sys_seconds now) {
  const auto in_week = (now.time_since_epoch() + kMondayBeforeTheEpoch) % kWeek;
  return (in_week - window.begins + kWeek) % kWeek;
}

}  // namespace

Result<std::optional<MaintenanceWindow>> maintenance_window(std::string_view text) {
  if (text.empty() || text == "any") return std::optional<MaintenanceWindow>{};
  const Error wrong{Code::kInvalid,
                    fmt::format("'{}' is no window: day, time in UTC and length of at most 7 days, "
                                "such as \"Sat 02:00 +6h\"; any: at any time",
                                printable(shortened(text, 80)))};
  const auto parts = words(text);
  if (parts.size() != 3 || !parts[2].starts_with('+')) return wrong;
  const auto day = std::ranges::find(kDays, lower_case(parts[0]));
  const auto time = minute_of_day(parts[1]);
  const auto lasts = duration_of(parts[2].substr(1));
  if (day == kDays.end() || !time || !lasts) return wrong;
  if (lasts->count() <= 0 || *lasts > kWeek) return wrong;
  return std::optional{MaintenanceWindow{days{day - kDays.begin()} + *time, *lasts,
                                         fmt::format("{}", fmt::join(parts, " "))}};
}

seconds left_of(const MaintenanceWindow& window, std::chrono::sys_seconds now) {
  if (window.lasts == kWeek) return kWeek;
  return std::max(window.lasts - since_opening(window, now), seconds{0});
}

std::chrono::sys_seconds next_opening(const MaintenanceWindow& window,
                                      std::chrono::sys_seconds now) {
  return now + kWeek - since_opening(window, now);
}

}  // namespace cupel::inventory
