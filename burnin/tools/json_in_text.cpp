#include "burnin/tools/json_in_text.h"

#include <fmt/format.h>

namespace cupel::burnin {
namespace {

constexpr int kMostTries = 64;  // a text full of braces costs no more than so many readings

/// One past the brace that closes the one at `begin`; nothing where it is never closed.
std::optional<std::size_t> end_of_object(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (auto i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i + 1;
  }
  return std::nullopt;
}

}  // namespace

Result<json::value> json_in(std::string_view text, std::string_view key) {
  const auto named = text.find(fmt::format("\"{}\"", key));
  if (named == text.npos)
    return Error{Code::kNoMeasurement, fmt::format("no JSON with \"{}\" in it", key)};
  auto begin = text.find('{');
  for (int tries = 0; begin < named && tries < kMostTries; ++tries) {
    const auto end = end_of_object(text, begin);
    if (end && *end > named) {
      auto document = parse_json(text.substr(begin, *end - begin));
      const bool fits = document && document->is_object() && document->get_object().contains(key);
      if (fits) return *std::move(document);
    }
    begin = text.find('{', begin + 1);
  }
  return Error{Code::kMalformed, "its JSON is cut short or broken"};
}

}  // namespace cupel::burnin
