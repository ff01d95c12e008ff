#include "bmc/redfish/spelling.h"

#include <array>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The number at the front, of exactly so many digits, which then goes.
std::optional<int> take(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  const auto found = number<int>(text.substr(0, digits));
  if (found) text.remove_prefix(digits);
  return found && *found >= 0 ? found : std::nullopt;
}

bool skip(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

/// "Z", "+05:30", "-0600"; nothing means UTC.
std::optional<std::chrono::minutes> zone_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return std::chrono::minutes{0};
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take(text, 2);
  (void)skip(text, ':');
  const auto minutes = text.empty() ? std::optional{0} : take(text, 2);
  if (!hours || !minutes || !text.empty() || *hours > 14 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes east{*hours * 60 + *minutes};
  return west ? -east : east;
}

/// "14:44:03.657", "14:44"; the fraction goes.
std::optional<std::chrono::seconds> clock_of(std::string_view& text) {
  const auto hour = take(text, 2);
  if (!hour || !skip(text, ':')) return std::nullopt;
  const auto minute = take(text, 2);
  std::optional<int> second{0};
  if (skip(text, ':')) second = take(text, 2);
  if (!minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  if (skip(text, '.')) text.remove_prefix(std::min(text.find_first_not_of(kDigits), text.size()));
  return std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{*second};
}

}  // namespace

std::optional<std::string> canonical_mac(std::string_view reported) {
  std::string digits;
  for (const char c : lower_case(trimmed(reported))) {
    if (c == ':' || c == '-' || c == '.') continue;
    if (!is_digit(c) && (c < 'a' || c > 'f')) return std::nullopt;
    digits += c;
  }
  if (digits.size() != 12) return std::nullopt;
  if (digits.find_first_not_of('0') == std::string::npos) return std::nullopt;
  constexpr std::string_view kGroup = "13579bdf";  // the lowest bit of the first octet
  if (kGroup.find(digits[1]) != kGroup.npos) return std::nullopt;
  std::string mac;
  for (std::size_t i = 0; i < 12; i += 2) {
    if (i > 0) mac += ':';
    mac += digits.substr(i, 2);
  }
  return mac;
}

bool is_local_mac(std::string_view canonical) {
  constexpr std::string_view kLocal = "2367abef";
  return canonical.size() > 1 && kLocal.find(canonical[1]) != kLocal.npos;
}

std::string canonical_version(std::string_view reported) {
  auto version = trimmed(reported);
  if (const auto at = version.rfind("Ver "); at != version.npos)
    version = trimmed(version.substr(at + 4));
  // One word that begins with a letter, a dash, and then the number.
  const auto dash = version.find('-');
  if (dash != version.npos && dash + 1 < version.size() && is_letter(version.front()) &&
      is_digit(version[dash + 1]) && version.substr(0, dash).find('.') == version.npos)
    version.remove_prefix(dash + 1);
  const bool some = version.find_first_of(kDigits) != version.npos;
  return some ? std::string{version} : std::string{};
}

std::optional<Seconds> moment_of(std::string_view reported) {
  using namespace std::chrono;
  auto text = trimmed(reported);
  const auto year = take(text, 4);
  if (!year || !skip(text, '-')) return std::nullopt;
  const auto month = take(text, 2);
  if (!month || !skip(text, '-')) return std::nullopt;
  const auto day = take(text, 2);
  if (!day || (!skip(text, 'T') && !skip(text, ' '))) return std::nullopt;
  const auto clock = clock_of(text);
  const auto zone = zone_of(text);
  const year_month_day date{std::chrono::year{*year}, std::chrono::month(unsigned(*month)),
                            std::chrono::day(unsigned(*day))};
  if (!clock || !zone || !date.ok()) return std::nullopt;
  // Redfish is of 2015: what is much older comes from a clock that nobody set.
  if (*year < 2010 || *year > 2100) return std::nullopt;
  return sys_days{date} + *clock - *zone;
}

std::string canonical_severity(std::string_view reported) {
  constexpr std::array<std::string_view, 6> kOk{"ok",   "informational", "information",
                                                "info", "normal",        "good"};
  constexpr std::array<std::string_view, 5> kWarning{"warning", "minor", "noncritical",
                                                     "non-critical", "caution"};
  constexpr std::array<std::string_view, 6> kCritical{"critical", "major",     "fatal",
                                                      "error",    "emergency", "alert"};
  const auto word = lower_case(trimmed(reported));
  if (std::ranges::find(kOk, word) != kOk.end()) return "OK";
  if (std::ranges::find(kWarning, word) != kWarning.end()) return "Warning";
  if (std::ranges::find(kCritical, word) != kCritical.end()) return "Critical";
  return {};
}

}  // namespace cupel::bmc::redfish
