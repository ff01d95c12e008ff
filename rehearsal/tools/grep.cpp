#include "rehearsal/tools/grep.h"

#include <regex>

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// A text that needs no regular expression; `at_start`: what begins with it.
struct Fixed {
  std::string text{};
  bool at_start = false;

  bool is_in(std::string_view line, bool whole) const {
    if (whole) return line == text;
    return at_start ? line.starts_with(text) : line.contains(text);
  }
};

struct Query {
  std::vector<Fixed> fixed{};
  std::optional<std::regex> pattern{};
  bool inverted = false, whole_line = false, whole_word = false, fold = false;

  bool hits(std::string_view line) const {
    bool hit = false;
    if (pattern) {
      // std::regex recurses by the line's length: long lines are searched by their start only.
      constexpr std::size_t kLongestLine = 4096;
      const std::string text{line.substr(0, kLongestLine)};
      hit = whole_line ? std::regex_match(text, *pattern) : std::regex_search(text, *pattern);
    } else {
      const auto folded = fold ? lower_case(line) : std::string{};
      const auto text = fold ? std::string_view{folded} : line;
      for (const auto& each : fixed) hit = hit || each.is_in(text, whole_line);
    }
    return hit != inverted;
  }
};

/// A pattern without anything special, or with no more than a beginning.
bool is_plain(std::string_view pattern) {
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  return pattern.find_first_of(".[]*^$\\+?(){}|") == pattern.npos;
}

Fixed fixed_of(const std::string& pattern, const Options& options) {
  const bool at_start = !options.has('F') && pattern.starts_with('^');
  const auto text = pattern.substr(at_start ? 1 : 0);
  return {options.has('i') ? lower_case(text) : text, at_start};
}

/// POSIX basic to extended: what is special with a backslash is so without, and the other way
/// round.
std::string extended(std::string_view basic) {
  std::string text;
  for (std::size_t i = 0; i < basic.size(); ++i) {
    const char c = basic[i];
    if (c == '\\' && i + 1 < basic.size()) {
      const char next = basic[++i];
      if (std::string_view{"+?(){}|"}.contains(next))
        text += next;
      else
        text += std::string{"\\"} + next;
    } else if (std::string_view{"+?(){}|"}.contains(c)) {
      text += std::string{"\\"} + c;
    } else {
      text += c;
    }
  }
  return text;
}

Result<Query> make_query(const Options& options, const Arguments& patterns, bool is_extended) {
  Query query{.inverted = options.has('v'),
              .whole_line = options.has('x'),
              .whole_word = options.has('w'),
              .fold = options.has('i')};
  const bool plain =
      (options.has('F') || std::ranges::all_of(patterns, is_plain)) && !query.whole_word;
  if (plain) {
    for (const auto& each : patterns) query.fixed.push_back(fixed_of(each, options));
    return query;
  }
  std::string all;
  for (const auto& each : patterns) {
    auto one = is_extended ? each : extended(each);
    if (query.whole_word) one = "\\b(" + one + ")\\b";
    all += all.empty() ? one : "|" + one;
  }
  auto flags = query.whole_word ? std::regex::ECMAScript : std::regex::extended;
  if (query.fold) flags |= std::regex::icase;
  try {
    query.pattern.emplace(all, flags);
  } catch (const std::regex_error& error) {
    return Error{Code::kInvalid, error.what()};
  }
  return query;
}

/// Matches of one source, as grep prints them.
struct Printer {
  const Options& options;
  bool named;
  std::size_t limit;

  std::size_t print(const Query& query, const Source& source, std::string& text) const {
    std::size_t count = 0, number_of_line = 0;
    const auto prefix =
        named ? (source.name == "-" ? "(standard input)" : source.name) + ":" : std::string{};
    const auto records = options.has('z') ? split(source.bytes, '\0') : lines(source.bytes);
    for (const auto line : records) {
      ++number_of_line;
      if (!query.hits(line)) continue;
      if (++count > limit) {
        --count;
        break;
      }
      if (options.has('c') || options.has('q') || options.has('l')) continue;
      const auto at = options.has('n') ? std::to_string(number_of_line) + ":" : std::string{};
      if (!options.has('o') || !query.pattern) {
        text += prefix + at +
                std::string{options.has('o') && !query.fixed.empty() ? query.fixed[0].text : line} +
                "\n";
        continue;
      }
      const std::string copy{line};
      for (auto it = std::sregex_iterator(copy.begin(), copy.end(), *query.pattern);
           it != std::sregex_iterator{}; ++it)
        if (it->length() > 0) text += prefix + at + it->str() + "\n";
    }
    if (options.has('c')) text += prefix + std::to_string(count) + "\n";
    if (options.has('l') && count > 0) text += source.name + "\n";
    return count;
  }
};

}  // namespace

Task<int> grep(ProcessPtr process, Arguments arguments) {
  auto options = parse_options(arguments, "sHhqEFcvinloxwrRe:m:az",
                               {{"quiet", 'q'}, {"count", 'c'}, {"color", 'C'}});
  Arguments patterns;
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i)
    if (arguments[i] == "-e") patterns.push_back(arguments[i + 1]);
  if (patterns.empty() && options.has('e')) patterns.push_back(options.value('e'));
  if (patterns.empty()) {
    if (options.operands.empty()) co_return co_await print_error(process, "grep", "no pattern", 2);
    patterns.push_back(options.operands.front());
    options.operands.erase(options.operands.begin());
  }
  Arguments all;
  for (const auto& pattern : patterns)
    for (const auto line : split(pattern, '\n')) all.emplace_back(line);
  const auto query = make_query(options, all, options.has('E') || arguments[0] == "egrep");
  if (!query) co_return co_await print_error(process, "grep", query.error().what, 2);
  const auto sources = co_await read_sources(process, "grep", options.operands, options.has('s'));
  const bool named = options.has('H') || (options.operands.size() > 1 && !options.has('h'));
  const auto limit = number<std::size_t>(options.value('m')).value_or(SIZE_MAX);
  const Printer printer{options, named, limit};
  std::string text;
  std::size_t hits = 0;
  for (const auto& source : sources.all) hits += printer.print(query.value(), source, text);
  co_await process->say(text);
  if (options.has('q') && hits > 0) co_return 0;
  if (!sources.good) co_return 2;
  co_return hits > 0 ? 0 : 1;
}

}  // namespace cupel::rehearsal
