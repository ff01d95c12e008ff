#pragma once
// Times of day as texts.
#include <chrono>
#include <optional>
#include <string_view>

namespace cupel {

/// "2026-11-21", "2026-11-21T10:00" or "2026-11-21T10:00:00", each with or without a Z behind it,
/// as UTC; a blank serves for the T (RFC 3339, 5.6). Nothing for any other text.
std::optional<std::chrono::sys_seconds> utc_of(std::string_view text);

/// "02:30", as minutes since midnight. Nothing for any other text.
std::optional<std::chrono::minutes> minute_of_day(std::string_view text);

}  // namespace cupel
