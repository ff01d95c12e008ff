#include "inventory/version_words.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace cupel::inventory {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a version stands in a text, without a V before it.
struct Found {
  std::size_t begin = 0, size = 0;
};

/// Numbers parted by dots: at least two of them.
std::optional<Found> version_at(std::string_view text, std::size_t from = 0) {
  for (auto at = from; at < text.size(); ++at) {
    const bool marked = at > 0 && (text[at - 1] == 'v' || text[at - 1] == 'V') &&
                        (at == 1 || !is_letter(text[at - 2]));
    const bool inside = at > 0 && !marked &&
                        (is_letter(text[at - 1]) || is_digit(text[at - 1]) || text[at - 1] == '.');
    if (!is_digit(text[at]) || inside) continue;
    auto end = at;
    while (end < text.size() && (is_digit(text[end]) || is_letter(text[end]) || text[end] == '.'))
      ++end;
    while (text[end - 1] == '.') --end;
    if (text.substr(at, end - at).contains('.')) return Found{at, end - at};
    at = end - 1;
  }
  return std::nullopt;
}

std::string version_in(std::string_view text) {
  const auto at = version_at(text);
  return at ? std::string{text.substr(at->begin, at->size)} : std::string{};
}

/// "<V2.9.2", ">= 1.0", "=1.2".
void add_constraint(std::string_view text, VersionBounds& bounds) {
  constexpr std::array<std::pair<std::string_view, VersionBound::Kind>, 5> kSigns{
      {{"<=", VersionBound::up_to},
       {"<", VersionBound::below},
       {">=", VersionBound::from},
       {">", VersionBound::from},
       {"=", VersionBound::exact}}};
  text = trimmed(text);
  if (text.starts_with('!')) return;  // what is left out says nothing of the rest
  auto kind = VersionBound::exact;
  for (const auto& [sign, meant] : kSigns)
    if (text.starts_with(sign)) {
      kind = meant;
      break;
    }
  // What is later than a version is not that version.
  const bool is_after = text.starts_with('>') && !text.starts_with(">=");
  if (auto version = version_in(text); !version.empty() && !is_after)
    bounds.push_back({kind, std::move(version)});
}

/// A range as CSAF 2.0 has it (3.1.2.3.2): `vers`, or the vers-like specifier.
bool is_range(std::string_view text) {
  return text.starts_with("vers:") || text.starts_with('<') || text.starts_with('>') ||
         text.starts_with('=') || text.starts_with('!') || text.contains('|');
}

VersionBounds bounds_of_range(std::string_view text) {
  if (text.starts_with("vers:")) text.remove_prefix(std::min(text.find('/'), text.size() - 1) + 1);
  VersionBounds bounds;
  for (const auto part : split(text, '|')) add_constraint(part, bounds);
  return bounds;
}

/// The version behind one of the phrases, else before it.
std::optional<VersionBound> bound_by_phrase(std::string_view text) {
  struct Phrase {
    std::string_view words;
    VersionBound::Kind kind;
  };
  constexpr std::array kPhrases{Phrase{"prior to and including", VersionBound::up_to},
                                Phrase{"up to and including", VersionBound::up_to},
                                Phrase{"and older", VersionBound::up_to},
                                Phrase{"and earlier", VersionBound::up_to},
                                Phrase{"and prior", VersionBound::up_to},
                                Phrase{"or earlier", VersionBound::up_to},
                                Phrase{"prior to", VersionBound::below},
                                Phrase{"earlier than", VersionBound::below},
                                Phrase{"older than", VersionBound::below},
                                Phrase{"before", VersionBound::below},
                                Phrase{"or newer", VersionBound::from},
                                Phrase{"or later", VersionBound::from}};
  const auto lower = lower_case(text);
  for (const auto& [words, kind] : kPhrases) {
    const auto at = lower.find(words);
    if (at == lower.npos) continue;
    auto version = version_in(text.substr(at));
    if (version.empty()) version = version_in(text.substr(0, at));
    if (version.empty()) return std::nullopt;
    return VersionBound{kind, std::move(version)};
  }
  return std::nullopt;
}

}  // namespace

VersionBounds version_bounds(std::string_view text) {
  text = trimmed(text);
  if (is_range(text)) return bounds_of_range(text);
  if (auto bound = bound_by_phrase(text)) return {*std::move(bound)};
  const auto first = version_at(text);
  if (!first) return {};
  // "0.0  to 4.5.2": the later one is affected, too.
  const auto rest = text.substr(first->begin + first->size);
  if (trimmed(rest).starts_with("to "))
    if (auto last = version_in(rest); !last.empty())
      return {{VersionBound::up_to, std::move(last)}};
  return {{VersionBound::exact, std::string{text.substr(first->begin, first->size)}}};
}

std::string name_without_version(std::string_view name) {
  const auto at = version_at(name);
  return std::string{trimmed(at ? name.substr(0, at->begin) : name)};
}

std::string version_to_update_to(std::string_view sentence) {
  const auto lower = lower_case(sentence);
  for (auto at = version_at(sentence); at; at = version_at(sentence, at->begin + at->size)) {
    const auto rest = trimmed(std::string_view{lower}.substr(at->begin + at->size));
    for (const auto* words : {"or later", "or newer", "or above"})
      if (rest.starts_with(words)) return std::string{sentence.substr(at->begin, at->size)};
  }
  return {};
}

}  // namespace cupel::inventory
