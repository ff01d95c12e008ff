#include "base/utc.h"

#include "base/text.h"

namespace cupel {

std::optional<std::chrono::sys_seconds> utc_of(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  const auto piece = [&](std::size_t at, std::size_t length) {
    return text.size() >= at + length ? number<unsigned>(text.substr(at, length)) : std::nullopt;
  };
  const auto year = piece(0, 4);
  const auto month = piece(5, 2);
  const auto day = piece(8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                         std::chrono::month{*month}, std::chrono::day{*day}};
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_seconds time = std::chrono::sys_days{date};
  if (text.size() == 10) return time;
  const auto hour = piece(11, 2);
  const auto minute = piece(14, 2);
  const auto second = text.size() == 16 ? std::optional{0U} : piece(17, 2);
  const bool shaped = (text.size() == 16 || (text.size() == 19 && text[16] == ':')) &&
                      (text[10] == 'T' || text[10] == ' ') && text[13] == ':';
  if (!shaped || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  return time + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
         std::chrono::seconds{*second};
}

std::optional<std::chrono::minutes> minute_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  // Without a sign.
  const auto hour = number<unsigned>(text.substr(0, 2));
  const auto minute = number<unsigned>(text.substr(3));
  if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return std::chrono::hours{*hour} + std::chrono::minutes{*minute};
}

}  // namespace cupel
