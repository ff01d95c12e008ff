#include "base/text.h"
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

Options parse_options(const Arguments& arguments, std::string_view letters,
                      const std::map<std::string, char>& words) {
  Options options;
  bool over = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (over || word.size() < 2 || word[0] != '-') {
      options.operands.push_back(word);
      continue;
    }
    if (word == "--") {
      over = true;
      continue;
    }
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      const auto known = words.find(word.substr(2, equals == word.npos ? word.npos : equals - 2));
      if (known == words.end()) {
        if (options.unknown.empty()) options.unknown = word;
        continue;
      }
      const auto at = letters.find(known->second);
      const bool valued = at != letters.npos && at + 1 < letters.size() && letters[at + 1] == ':';
      auto& value = options.set[known->second];
      if (equals != word.npos)
        value = word.substr(equals + 1);
      else if (valued && i + 1 < arguments.size())
        value = arguments[++i];
      continue;
    }
    for (std::size_t at = 1; at < word.size(); ++at) {
      const auto known = letters.find(word[at]);
      if (known == letters.npos || word[at] == ':') {
        if (options.unknown.empty()) options.unknown = "-" + word.substr(at, 1);
        continue;
      }
      auto& value = options.set[word[at]];
      if (known + 1 >= letters.size() || letters[known + 1] != ':') continue;
      if (at + 1 < word.size())
        value = word.substr(at + 1);
      else if (i + 1 < arguments.size())
        value = arguments[++i];
      break;
    }
  }
  return options;
}

std::optional<double> parse_size(std::string_view text) {
  double factor = 1;
  if (text.ends_with("iB"))
    text.remove_suffix(2);
  else if (text.ends_with('B') || (text.ends_with('b') && text.size() > 1))
    text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kSteps{"kmgt"};
  const auto step =
      kSteps.find(static_cast<char>(std::tolower(static_cast<unsigned char>(text.back()))));
  if (step != kSteps.npos) {
    for (std::size_t i = 0; i <= step; ++i) factor *= 1024;
    text.remove_suffix(1);
  }
  const auto value = number<double>(text);
  if (!value || *value < 0) return std::nullopt;
  return *value * factor;
}

std::optional<VirtualTime> parse_span(std::string_view text) {
  double factor = 1;
  if (!text.empty()) {
    const char unit = text.back();
    if (unit == 'm') factor = 60;
    if (unit == 'h') factor = 3600;
    if (unit == 'd') factor = 86400;
    if (unit == 's' || factor > 1) text.remove_suffix(1);
  }
  const auto value = number<double>(text);
  if (!value || *value < 0) return std::nullopt;
  return VirtualTime{*value * factor};
}

}  // namespace cupel::rehearsal
