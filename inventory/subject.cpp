#include "inventory/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_words.h"
#include "base/text.h"

namespace cupel::inventory {
namespace {

using Kind = Subject::Kind;

constexpr std::size_t kLongest = 128;  // bytes, of a name or of a part
constexpr std::string_view kBetween = "<->";
constexpr std::array<std::pair<Kind, std::string_view>, 4> kPrefixes{{
    {Kind::link, "link:"},
    {Kind::switch_port, "port:"},
    {Kind::power_feed, "feed:"},
    {Kind::group, "group:"},
}};

bool is_subject_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

bool is_subject_part(std::string_view text) {
  return !text.empty() && text.size() <= kLongest && text.front() != ' ' && text.back() != ' ' &&
         text.find(kBetween) == text.npos && printable(text) == text;
}

/// "a01-n07/gpu3": up to the first slash, which no name has.
std::pair<std::string, std::string> name_and_part(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return {std::string{text}, {}};
  return {std::string{text.substr(0, slash)}, std::string{text.substr(slash + 1)}};
}

std::string end_text(const std::string& name, const std::string& part) {
  return part.empty() ? name : name + "/" + part;
}

bool is_sound(const Subject& subject) {
  if (!is_subject_name(subject.name)) return false;
  const bool has_part = is_subject_part(subject.part), has_far = !subject.far_name.empty();
  if (has_far != (subject.kind == Kind::link)) return false;
  switch (subject.kind) {
    case Kind::node:
    case Kind::group:
      return subject.part.empty();
    case Kind::part:
    case Kind::switch_port:
    case Kind::power_feed:
      return has_part;
    case Kind::link:
      return has_part && is_subject_name(subject.far_name) && is_subject_part(subject.far_part);
  }
  __builtin_unreachable();
}

Subject read_subject(std::string_view text) {
  Subject subject;
  for (const auto& [kind, prefix] : kPrefixes)
    if (text.starts_with(prefix)) {
      subject.kind = kind;
      text.remove_prefix(prefix.size());
      break;
    }
  if (subject.kind == Kind::link) {
    const auto between = std::min(text.find(kBetween), text.size());
    const auto far = text.substr(std::min(between + kBetween.size(), text.size()));
    std::tie(subject.far_name, subject.far_part) = name_and_part(far);
    text = text.substr(0, between);
  }
  std::tie(subject.name, subject.part) = name_and_part(text);
  if (subject.kind == Kind::node && text.find('/') != text.npos) subject.kind = Kind::part;
  return subject;
}

}  // namespace

Subject Subject::part_of(std::string node, std::string part) {
  const bool is_text = std::ranges::any_of(
      kPrefixes, [&](const auto& each) { return part.starts_with(each.second); });
  if (is_text)
    if (auto subject = parse_subject(part)) return *std::move(subject);
  const auto kind = part.empty() ? Kind::node : Kind::part;
  return {kind, std::move(node), std::move(part)};
}

std::string to_text(const Subject& subject) {
  std::string text;
  for (const auto& [kind, prefix] : kPrefixes)
    if (kind == subject.kind) text = prefix;
  text += end_text(subject.name, subject.part);
  if (subject.kind == Kind::link)
    text.append(kBetween).append(end_text(subject.far_name, subject.far_part));
  return text;
}

std::string_view to_string(Subject::Kind kind) { return enum_word<'-'>(kind); }

std::string part_text(const Subject& subject) {
  return is_beyond_a_node(subject) ? to_text(subject) : subject.part;
}

bool is_beyond_a_node(const Subject& subject) {
  return subject.kind != Kind::node && subject.kind != Kind::part;
}

Result<Subject> parse_subject(std::string_view text) {
  auto subject = read_subject(text);
  if (is_sound(subject) && to_text(subject) == text) return subject;
  return Error{Code::kMalformed,
               fmt::format("'{}' names no subject: expected a node (a01-n07), a part "
                           "(a01-n07/gpu3), link:END<->END, port:SWITCH/PORT, feed:PDU/FEED or "
                           "group:NAME",
                           printable(text.substr(0, 2 * kLongest)))};
}

bool is_valid(const Subject& subject) { return is_sound(subject); }

}  // namespace cupel::inventory
