#include "inventory/node_range.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestRange = 65'536;

Error bad(std::string_view range, std::size_t at, std::string_view what) {
  return Error{Code::kInvalid, fmt::format("'{}': {} at character {}", range, what, at + 1)};
}

/// One element between commas within brackets: "7", "01-08", "0-9/3".
Result<void> add_element(std::string_view element, std::vector<std::string>& into) {
  const auto slash = element.find('/');
  const auto span = element.substr(0, slash);
  const auto dash = span.find('-');
  const auto from_text = span.substr(0, dash);
  const auto to_text = dash == span.npos ? from_text : span.substr(dash + 1);
  const auto step_text = slash == element.npos ? std::string_view{"1"} : element.substr(slash + 1);
  const auto from = number<std::uint32_t>(from_text);
  const auto to = number<std::uint32_t>(to_text);
  const auto step = number<std::uint32_t>(step_text);
  if (!from || !to || !step || *step == 0)
    return Error{Code::kInvalid, fmt::format("'{}' is not a number or a range", element)};
  if (*to < *from) return Error{Code::kInvalid, fmt::format("'{}' runs backwards", element)};
  if ((*to - *from) / *step >= kMostNames)
    return Error{Code::kInvalid, fmt::format("'{}' is more than {} names", element, kMostNames)};
  for (std::uint64_t i = *from; i <= *to; i += *step)
    into.push_back(fmt::format("{:0{}}", i, from_text.size()));
  return ok();
}

/// What stands between the brackets.
Result<std::vector<std::string>> choices(std::string_view inside) {
  std::vector<std::string> found;
  for (const auto element : split(inside, ',')) {
    TRY(add_element(trimmed(element), found));
  }
  return found;
}

/// Appends every choice to every name so far.
Result<void> multiply(std::vector<std::string>& names, const std::vector<std::string>& by) {
  if (names.size() * by.size() > kMostNames)
    return Error{Code::kInvalid, fmt::format("more than {} names", kMostNames)};
  std::vector<std::string> product;
  product.reserve(names.size() * by.size());
  for (const auto& name : names)
    for (const auto& choice : by) product.push_back(name + choice);
  names = std::move(product);
  return ok();
}

Result<std::vector<std::string>> expand_one(std::string_view range) {
  std::vector<std::string> names{""};
  std::size_t at = 0;
  while (at < range.size()) {
    const auto open = range.find_first_of("[]", at);
    const auto literal = range.substr(at, open == range.npos ? open : open - at);
    for (auto& name : names) name += literal;
    if (open == range.npos) break;
    if (range[open] == ']') return bad(range, open, "']' without '['");
    const auto close = range.find(']', open);
    if (close == range.npos) return bad(range, open, "'[' without ']'");
    auto by = choices(range.substr(open + 1, close - open - 1));
    if (!by) return bad(range, open, by.assume_error().what);
    TRY(multiply(names, by.assume_value()));
    at = close + 1;
  }
  return names;
}

/// A name as its folding sees it: text, last number, text.
struct Pieces {
  std::string head;
  std::string digits;
  std::string tail;
};

Pieces pieces(const std::string& name) {
  const auto last = name.find_last_of("0123456789");
  if (last == name.npos) return {name, "", ""};
  const auto before = name.substr(0, last + 1).find_last_not_of("0123456789");
  const auto first = before == name.npos ? 0 : before + 1;
  return {name.substr(0, first), name.substr(first, last + 1 - first), name.substr(last + 1)};
}

/// "01-03,07" of sorted numbers with the same width.
std::string runs(const std::vector<std::uint64_t>& numbers, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    auto j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (!text.empty()) text += ',';
    text += fmt::format("{:0{}}", numbers[i], width);
    if (j > i) text += fmt::format("-{:0{}}", numbers[j], width);
    i = j + 1;
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> expand(std::string_view range) {
  if (range.size() > kLongestRange) return Error{Code::kInvalid, "a range of over 64 KiB"};
  std::vector<std::string> names;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= range.size(); ++i) {
    const bool end = i == range.size() || (range[i] == ',' && depth == 0);
    if (!end) {
      if (range[i] == '[') ++depth;
      if (range[i] == ']') --depth;
      continue;
    }
    const auto one = trimmed(range.substr(start, i - start));
    if (one.empty()) return bad(range, start, "a name is missing");
    TRY(auto expanded, expand_one(one));
    if (names.size() + expanded.size() > kMostNames)
      return Error{Code::kInvalid, fmt::format("more than {} names", kMostNames)};
    names.insert(names.end(), std::make_move_iterator(expanded.begin()),
                 std::make_move_iterator(expanded.end()));
    start = i + 1;
  }
  return names;
}

std::string fold(std::span<const std::string> names) {
  // Same head, width and tail belong together; in the order in which they were first met.
  std::vector<std::pair<Pieces, std::vector<std::uint64_t>>> groups;
  std::map<std::string, std::size_t, std::less<>> where;
  for (const auto& name : names) {
    auto piece = pieces(name);
    const auto value = number<std::uint64_t>(piece.digits);
    if (!value) piece = {name, "", ""};
    const auto key = fmt::format("{}\n{}\n{}", piece.head, piece.digits.size(), piece.tail);
    const auto [found, fresh] = where.try_emplace(key, groups.size());
    if (fresh) groups.push_back({piece, {}});
    groups[found->second].second.push_back(value.value_or(0));
  }
  std::string text;
  for (auto& [piece, numbers] : groups) {
    std::ranges::sort(numbers);
    const auto doubles = std::ranges::unique(numbers);
    numbers.erase(doubles.begin(), doubles.end());
    if (!text.empty()) text += ',';
    if (piece.digits.empty())
      text += piece.head;
    else if (numbers.size() == 1)
      text += fmt::format("{}{:0{}}{}", piece.head, numbers[0], piece.digits.size(), piece.tail);
    else
      text += fmt::format("{}[{}]{}", piece.head, runs(numbers, piece.digits.size()), piece.tail);
  }
  return text;
}

}  // namespace cupel::inventory
