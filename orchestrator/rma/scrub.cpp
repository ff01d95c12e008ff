#include "orchestrator/rma/scrub.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::rma {
namespace {

constexpr std::string_view kGone = "***";
constexpr std::size_t kShortestKnown = 4;  // bytes: a shorter one would take words apart
constexpr std::array<std::string_view, 10> kSecretWords{
    "password", "passwd", "passphrase", "secret",     "token",
    "api_key",  "apikey", "community",  "credential", "authorization"};

bool ends_value(char c) { return c == '\r' || c == '\n'; }

/// Where the value behind a secret word begins; npos where nothing of the kind follows.
std::size_t value_behind(std::string_view line, std::size_t word_end) {
  auto at = word_end;
  while (at < line.size() && (line[at] == '"' || line[at] == '\'' || line[at] == ' ' ||
                              line[at] == '\t' || line[at] == '_' || line[at] == 's'))
    ++at;
  if (at >= line.size() || (line[at] != '=' && line[at] != ':')) return line.npos;
  ++at;
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  return at < line.size() ? at : line.npos;
}

/// Up to the end of a quoted text, or of the line: a password may have blanks.
std::size_t end_of_value(std::string_view line, std::size_t at) {
  const char quote = line[at];
  if (quote != '"' && quote != '\'') return line.size();
  const auto end = line.find(quote, at + 1);
  return end == line.npos ? line.size() : end + 1;
}

std::string scrubbed_line(std::string_view line) {
  std::string text{line};
  auto lower = lower_case(text);
  for (const auto word : kSecretWords)
    for (auto at = lower.find(word); at != lower.npos; at = lower.find(word, at + word.size())) {
      const auto value = value_behind(text, at + word.size());
      if (value == text.npos) continue;
      text.replace(value, end_of_value(text, value) - value, kGone);
      lower = lower_case(text);
    }
  // user:password@host of a URI.
  for (auto at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const auto end = text.find_first_of("/ \t\"'", at + 3);
    const auto host = text.rfind('@', end == text.npos ? text.size() : end);
    if (host != text.npos && host > at + 3) text.replace(at + 3, host - at - 3, kGone);
  }
  return text;
}

/// Private keys go with all of their lines.
std::string without_keys(std::string_view text) {
  std::string rest{text};
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  for (auto at = rest.find(kBegin); at != rest.npos; at = rest.find(kBegin, at + 1)) {
    const auto label_end = rest.find("-----", at + kBegin.size());
    if (label_end == rest.npos) break;
    const auto label = std::string_view{rest}.substr(at, label_end - at);
    if (!label.contains("PRIVATE KEY")) continue;
    const auto end = rest.find(kEnd, label_end);
    const auto stop = end == rest.npos ? rest.npos : rest.find("-----", end + kEnd.size());
    const auto length = stop == rest.npos ? rest.npos : stop + 5 - at;
    rest.replace(at, length, kGone);
  }
  return rest;
}

}  // namespace

std::string without_secrets(std::string_view text, std::span<const std::string> known) {
  auto rest = without_keys(text);
  for (const auto& secret : known) {
    if (secret.size() < kShortestKnown) continue;
    for (auto at = rest.find(secret); at != rest.npos; at = rest.find(secret, at + kGone.size()))
      rest.replace(at, secret.size(), kGone);
  }
  std::string scrubbed;
  scrubbed.reserve(rest.size());
  std::size_t from = 0;
  while (from < rest.size()) {
    auto end = from;
    while (end < rest.size() && !ends_value(rest[end])) ++end;
    scrubbed += scrubbed_line(std::string_view{rest}.substr(from, end - from));
    if (end < rest.size()) scrubbed += rest[end];
    from = end + 1;
  }
  return scrubbed;
}

}  // namespace cupel::rma
