#include "inventory/versions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace cupel::inventory {
namespace {

using Order = std::partial_ordering;
using Groups = std::vector<std::string_view>;

constexpr std::size_t kLongestVersion = 256;
constexpr std::string_view kDigits = "0123456789", kHexDigits = "0123456789abcdefABCDEF",
                           kUpperHexDigits = "0123456789ABCDEF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_made_of(std::string_view text, std::string_view of) {
  return !text.empty() && text.find_first_not_of(of) == text.npos;
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool are_same(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// Of any length, without an overflow; decimal or hexadecimal.
Order by_number(std::string_view one, std::string_view other) {
  one.remove_prefix(std::min(one.find_first_not_of('0'), one.size()));
  other.remove_prefix(std::min(other.find_first_not_of('0'), other.size()));
  if (one.size() != other.size()) return one.size() <=> other.size();
  return lower_case(one) <=> lower_case(other);
}

/// "rc", which precedes the version that it leads to, and how far it has got.
std::optional<int> stage_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kStages{"dev", "alpha", "beta", "pre", "rc"};
  const auto found =
      std::ranges::find_if(kStages, [&](const auto stage) { return are_same(stage, word); });
  if (found == kStages.end()) return std::nullopt;
  return static_cast<int>(found - kStages.begin());
}

/// The digits, or the letters, at the front, which then go.
std::string_view take_run(std::string_view& group) {
  const bool digits = is_digit(group.front());
  const auto end = std::ranges::find_if(group, [&](const char c) { return is_digit(c) != digits; });
  const auto run = group.substr(0, static_cast<std::size_t>(end - group.begin()));
  group.remove_prefix(run.size());
  return run;
}

Order by_word(std::string_view one, std::string_view other) {
  if (are_same(one, other)) return Order::equivalent;
  const auto one_stage = stage_of(one), other_stage = stage_of(other);
  if (one_stage && other_stage) return *one_stage <=> *other_stage;
  if (one.size() == 1 && other.size() == 1) return lower(one[0]) <=> lower(other[0]);
  return Order::unordered;
}

/// What a version with this more at its end is to the one without.
Order of_longer(std::string_view more) {
  const auto run = take_run(more);
  if (is_digit(run.front()))
    return is_made_of(run, "0") && more.empty() ? Order::equivalent : Order::greater;
  if (stage_of(run)) return Order::less;
  return run.size() == 1 ? Order::greater : Order::unordered;
}

Order reversed(Order order) { return 0 <=> order; }

/// Numbers and letters in turns: "rc57", "1b".
Order by_runs(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    const auto left = take_run(one), right = take_run(other);
    const bool number = is_digit(left.front());
    if (number != is_digit(right.front())) return Order::unordered;
    const auto order = number ? by_number(left, right) : by_word(left, right);
    if (order != Order::equivalent) return order;
  }
  if (one.empty() && other.empty()) return Order::equivalent;
  return one.empty() ? reversed(of_longer(other)) : of_longer(one);
}

/// "g3ab007f": the commit that something was built from, which has no order.
bool is_commit(std::string_view group) {
  return group.size() >= 8 && group.front() == 'g' && is_made_of(group.substr(1), kHexDigits);
}

bool has_hex_mark(std::string_view group) {
  return group.size() > 2 && group[0] == '0' && lower(group[1]) == 'x';
}

/// A group of letters and digits against the one in the same place.
Order by_group(std::string_view one, std::string_view other) {
  if (are_same(one, other)) return Order::equivalent;
  if (is_made_of(one, kDigits) && is_made_of(other, kDigits)) return by_number(one, other);
  if (is_commit(one) || is_commit(other)) return Order::unordered;
  if (has_hex_mark(one) != has_hex_mark(other)) return Order::unordered;
  if (has_hex_mark(one)) return by_number(one.substr(2), other.substr(2));
  const bool hex = is_made_of(one, kHexDigits) && is_made_of(other, kHexDigits);
  const bool upper = is_made_of(one, kUpperHexDigits) && is_made_of(other, kUpperHexDigits);
  if (upper && one.size() == other.size() && one.size() > 1) return by_number(one, other);
  const auto order = by_runs(one, other);
  // "0b" may be a number, or a letter after one.
  return !hex || by_number(one, other) == order ? order : Order::unordered;
}

/// A version taken apart.
struct Version {
  std::vector<std::string> family{};  // "HPE", "iLO", "6"
  std::vector<std::string> groups{};  // "1", "53"
  bool begins_with_build = false;     // "42S" of "42S-2.83", which counts by itself
  int date = 0;                       // 20240226; 0: none
};

std::optional<int> month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                     "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto found =
      std::ranges::find_if(kMonths, [&](const auto month) { return are_same(month, word); });
  if (found == kMonths.end()) return std::nullopt;
  return static_cast<int>(found - kMonths.begin()) + 1;
}

/// "02/26/2024" and "Sep 04 2022" as three groups; 0 where these are none.
int date_of(std::string_view month, std::string_view day, std::string_view year) {
  const auto y = number<int>(year), d = number<int>(day);
  const auto m = month_of(month) ? month_of(month) : number<int>(month);
  const bool good = y && m && d && *y >= 1990 && *y < 2100 && *m >= 1 && *m <= 12 && *d >= 1 &&
                    *d <= 31 && year.size() == 4 && day.size() == 2 && month.size() >= 2;
  return good ? *y * 10'000 + *m * 100 + *d : 0;
}

struct Group {
  std::string_view text;
  char before = 0, after = 0;  // the separators; 0: an end
};

std::vector<Group> groups_of(std::string_view text) {
  const auto is_part = [](char c) { return is_digit(c) || is_letter(c); };
  std::vector<Group> groups;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_part(text[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    groups.push_back({text.substr(at, end - at), at == 0 ? char{} : text[at - 1],
                      end == text.size() ? char{} : text[end]});
    at = end;
  }
  return groups;
}

/// Takes the first date out of the groups: it is in no order with what stands beside it.
int take_date(std::vector<Group>& groups) {
  for (std::size_t i = 0; i + 2 < groups.size(); ++i) {
    const bool slashes = groups[i].after == '/' && groups[i + 1].after == '/';
    const bool words = groups[i].after == ' ' && month_of(groups[i].text);
    const int date =
        slashes || words ? date_of(groups[i].text, groups[i + 1].text, groups[i + 2].text) : 0;
    if (date == 0) continue;
    const auto at = groups.begin() + static_cast<std::ptrdiff_t>(i);
    groups.erase(at, at + 3);
    return date;
  }
  return 0;
}

bool is_marked(std::string_view group) {
  return group.size() > 1 && lower(group[0]) == 'v' && is_digit(group[1]);
}

bool is_mark(std::string_view group) {
  return are_same(group, "ver") || are_same(group, "version") || are_same(group, "v");
}

bool is_filler(std::string_view group) {
  return are_same(group, "bios") || are_same(group, "date") || are_same(group, "version");
}

/// Where the version begins: behind "Ver", at "v2", or behind words that begin with a letter and
/// are set apart from what follows ("GB200Nvl-", "IDH ").
std::size_t begin_of(const std::vector<Group>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_marked(groups[i].text)) return i;
    if (is_mark(groups[i].text) && i + 1 < groups.size()) return i + 1;
  }
  std::size_t begin = 0;
  while (begin + 1 < groups.size() && is_letter(groups[begin].text.front()) &&
         groups[begin].after != '.')
    ++begin;
  return begin;
}

Version parse(std::string_view text) {
  auto groups = groups_of(text);
  Version version;
  version.date = take_date(groups);
  const auto begin = begin_of(groups);
  for (std::size_t i = 0; i < begin; ++i)
    if (!is_mark(groups[i].text) && !is_filler(groups[i].text))
      version.family.push_back(lower_case(groups[i].text));
  for (std::size_t i = begin; i < groups.size(); ++i) {
    auto group = groups[i].text;
    if (i == begin && is_marked(group)) group.remove_prefix(1);
    version.groups.emplace_back(group);
  }
  version.begins_with_build = begin < groups.size() && groups[begin].after == '-' &&
                              is_digit(groups[begin].text.front()) &&
                              is_letter(groups[begin].text.back());
  return version;
}

Order by_groups(const Version& one, const Version& other, std::size_t first) {
  const auto common = std::min(one.groups.size(), other.groups.size());
  for (auto i = first; i < common; ++i)
    if (const auto order = by_group(one.groups[i], other.groups[i]); order != Order::equivalent)
      return order;
  for (auto i = common; i < one.groups.size(); ++i)
    if (const auto order = of_longer(one.groups[i]); order != Order::equivalent) return order;
  for (auto i = common; i < other.groups.size(); ++i)
    if (const auto order = of_longer(other.groups[i]); order != Order::equivalent)
      return reversed(order);
  return Order::equivalent;
}

}  // namespace

std::partial_ordering compare_versions(std::string_view one, std::string_view other) {
  one = trimmed(one), other = trimmed(other);
  if (one.empty() || other.empty()) return Order::unordered;
  if (one.size() > kLongestVersion || other.size() > kLongestVersion) return Order::unordered;
  if (are_same(one, other)) return Order::equivalent;
  const auto left = parse(one), right = parse(other);
  if (left.groups.empty() || right.groups.empty()) return Order::unordered;
  if (!left.family.empty() && !right.family.empty() && left.family != right.family)
    return Order::unordered;
  auto order = by_groups(left, right, 0);
  if (left.begins_with_build && right.begins_with_build) {
    const auto rest = by_groups(left, right, 1);
    if (rest != order && rest != Order::equivalent) order = Order::unordered;
  }
  const bool open = order == Order::equivalent || order == Order::unordered;
  if (open && left.date != 0 && right.date != 0 && left.date != right.date)
    return left.date <=> right.date;
  return order;
}

bool same_version(std::string_view one, std::string_view other) {
  return trimmed(one) == trimmed(other) || compare_versions(one, other) == 0;
}

bool abbreviates(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return !one.empty() && other.size() > one.size() && other.starts_with(one) &&
         other[one.size()] == '.';
}

bool fits_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, retry = 0;
  auto star = pattern.npos;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && lower(pattern[p]) == lower(text[t])) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace cupel::inventory
