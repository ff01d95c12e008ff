#include "inventory/filled_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

constexpr std::string_view kOpen = "{{", kClose = "}}";
constexpr std::string_view kBraces = R"("{{")";  // between kOpen and kClose: two plain braces
constexpr std::size_t kMostShown = 60;

/// "file:token" of `secret "file:token"`; empty: it is none.
std::string_view secret_in(std::string_view body) {
  constexpr std::string_view kWord = "secret";
  if (!body.starts_with(kWord)) return {};
  const auto rest = trimmed(body.substr(kWord.size()));
  const bool quoted = rest.size() > 2 && rest.front() == '"' && rest.back() == '"';
  return quoted ? rest.substr(1, rest.size() - 2) : std::string_view{};
}

Result<TextPart> part_of(std::string_view body, std::span<const std::string_view> known) {
  using Kind = TextPart::Kind;
  if (body == kBraces) return TextPart{Kind::plain, std::string{kOpen}};
  if (std::ranges::find(known, body) != known.end())
    return TextPart{Kind::variable, std::string{body}};
  if (const auto secret = secret_in(body); !secret.empty())
    return TextPart{Kind::secret, std::string{secret}};
  return Error{
      Code::kInvalid,
      fmt::format("'{}' between two braces is no variable{}: there are {} and secret "
                  R"("file:PATH"; two braces that stand for themselves are {{{{"{{{{"}}}})",
                  shortened(printable(body), kMostShown), did_you_mean(body, known),
                  fmt::join(known, ", "))};
}

void add_plain(std::vector<TextPart>& parts, std::string_view text) {
  if (text.empty()) return;
  if (parts.empty() || parts.back().kind != TextPart::Kind::plain) parts.emplace_back();
  parts.back().text += text;
}

std::string in_line(std::string_view before) {
  return fmt::format("line {} of the text", std::ranges::count(before, '\n') + 1);
}

}  // namespace

Result<std::vector<TextPart>> text_parts(std::string_view text,
                                         std::span<const std::string_view> known) {
  std::vector<TextPart> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto open = text.find(kOpen, at);
    add_plain(parts, text.substr(at, open - at));
    if (open == text.npos) break;
    const auto inside = text.substr(open + kOpen.size());
    const auto close = inside.find(kClose);
    const auto where = in_line(text.substr(0, open));
    if (close == inside.npos || inside.substr(0, close).contains('\n'))
      return Error{Code::kInvalid, where + R"(: nothing closes '{{': a variable is {{node}}, and )"
                                           R"(two braces that stand for themselves are {{"{{"}})"};
    TRY(auto part, within(where, part_of(trimmed(inside.substr(0, close)), known)));
    if (part.kind == TextPart::Kind::plain)
      add_plain(parts, part.text);
    else
      parts.push_back(std::move(part));
    at = open + kOpen.size() + close + kClose.size();
  }
  return parts;
}

std::string text_of(const std::vector<TextPart>& parts) {
  std::string text;
  for (const auto& part : parts) {
    if (part.kind == TextPart::Kind::variable) text += fmt::format("{{{{{}}}}}", part.text);
    if (part.kind == TextPart::Kind::secret)
      text += fmt::format(R"({{{{secret "{}"}}}})", part.text);
    if (part.kind != TextPart::Kind::plain) continue;
    for (std::size_t at = 0; at < part.text.size();) {
      const auto open = part.text.find(kOpen, at);
      text += part.text.substr(at, open - at);
      if (open == part.text.npos) break;
      text += fmt::format("{{{{{}}}}}", kBraces);
      at = open + kOpen.size();
    }
  }
  return text;
}

std::string filled(const std::vector<TextPart>& parts, const TextValues& values) {
  std::string text;
  for (const auto& part : parts) {
    if (part.kind == TextPart::Kind::plain) {
      text += part.text;
      continue;
    }
    const auto& known = part.kind == TextPart::Kind::secret ? values.secrets : values.variables;
    const auto value = known.find(part.text);
    if (value != known.end()) text += value->second;
  }
  return text;
}

}  // namespace cupel::inventory
