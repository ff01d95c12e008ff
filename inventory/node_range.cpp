#include "inventory/node_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

/// A name as its folding sees it: texts, and the numbers between them. There is one text more than
/// numbers.
struct Pieces {
  std::vector<std::string> texts{};
  std::vector<std::string> digits{};
};

/// The last `most` numbers of a name; those before them, and those that a range can't hold, are
/// text.
Pieces pieces(std::string_view name, std::size_t most) {
  constexpr std::string_view kDigits = "0123456789";
  Pieces found;
  std::string tail;
  while (found.digits.size() < most) {
    const auto last = name.find_last_of(kDigits);
    if (last == name.npos) break;
    const auto before = name.substr(0, last + 1).find_last_not_of(kDigits);
    const auto first = before == name.npos ? 0 : before + 1;
    const auto digits = name.substr(first, last + 1 - first);
    const auto text = std::string{name.substr(last + 1)} + tail;
    name = name.substr(0, first);
    if (!number<std::uint32_t>(digits)) {
      tail = std::string{digits} + text;
      continue;
    }
    found.texts.push_back(text);
    found.digits.emplace_back(digits);
    tail.clear();
  }
  found.texts.push_back(std::string{name} + tail);
  std::ranges::reverse(found.texts);
  std::ranges::reverse(found.digits);
  return found;
}

using Numbers = std::vector<std::uint32_t>;
/// All names that take one number of each dimension.
using Block = std::vector<Numbers>;

/// Blocks that differ in dimension `across` alone, as one; in the order in which they were met.
std::vector<Block> joined(const std::vector<Block>& blocks, std::size_t across) {
  std::vector<Block> all;
  std::map<Block, std::size_t> where;
  for (const auto& block : blocks) {
    auto key = block;
    key[across].clear();
    const auto [found, fresh] = where.try_emplace(std::move(key), all.size());
    if (fresh) {
      all.push_back(block);
      continue;
    }
    auto& numbers = all[found->second][across];
    numbers.insert(numbers.end(), block[across].begin(), block[across].end());
  }
  for (auto& block : all) std::ranges::sort(block[across]);
  return all;
}

/// The names as few blocks, by each dimension once, from the last or from the first.
std::vector<Block> folded(const std::vector<Block>& names, std::size_t dimensions) {
  auto from_last = names, from_first = names;
  for (std::size_t i = 0; i < dimensions; ++i) {
    from_last = joined(from_last, dimensions - 1 - i);
    from_first = joined(from_first, i);
  }
  return from_first.size() < from_last.size() ? from_first : from_last;
}

/// "01-03,07" of sorted numbers with the same least width.
std::string runs(const Numbers& numbers, std::size_t width) {
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

/// Names that differ in their numbers alone.
struct NumberedNames {
  std::vector<std::string> texts{};
  std::vector<std::size_t> widths{};  // least width of each number
  std::vector<Block> names{};
};

/// "08" has a width that counts, "8" has none.
bool is_padded(const std::string& digits) { return digits.size() > 1 && digits[0] == '0'; }

/// One group, or one for each width of the numbers where leading zeros don't fit one width.
std::vector<NumberedNames> by_width(const std::vector<Pieces>& names) {
  const auto dimensions = names.front().digits.size();
  std::vector<std::size_t> least(dimensions, 1);
  bool one_width = true;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const bool padded =
        std::ranges::any_of(names, [&](const Pieces& each) { return is_padded(each.digits[i]); });
    if (padded) least[i] = names.front().digits[i].size();
    one_width = one_width && (!padded || std::ranges::all_of(names, [&](const Pieces& each) {
                  return each.digits[i].size() == least[i];
                }));
  }
  std::vector<NumberedNames> groups;
  std::map<std::vector<std::size_t>, std::size_t> where;
  std::set<std::vector<std::string>> known;
  for (const auto& name : names) {
    if (!known.insert(name.digits).second) continue;
    std::vector<std::size_t> widths;
    Block block;
    for (const auto& digits : name.digits) {
      widths.push_back(digits.size());
      block.push_back({number<std::uint32_t>(digits).value_or(0)});
    }
    if (one_width) widths = least;
    const auto [found, fresh] = where.try_emplace(widths, groups.size());
    if (fresh) groups.push_back({name.texts, widths, {}});
    groups[found->second].names.push_back(std::move(block));
  }
  return groups;
}

std::string text_of(const NumberedNames& group, const Block& block) {
  std::string text = group.texts.front();
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto numbers = runs(block[i], group.widths[i]);
    text += block[i].size() == 1 ? numbers : "[" + numbers + "]";
    text += group.texts[i + 1];
  }
  return text;
}

std::string fold_numbers(std::span<const std::string> names, std::size_t most) {
  // The same texts belong together; in the order in which they were first met.
  std::vector<std::vector<Pieces>> alike;
  std::map<std::vector<std::string>, std::size_t> where;
  for (const auto& name : names) {
    auto piece = pieces(name, most);
    const auto [found, fresh] = where.try_emplace(piece.texts, alike.size());
    if (fresh) alike.emplace_back();
    alike[found->second].push_back(std::move(piece));
  }
  std::string text;
  for (const auto& each : alike)
    for (const auto& group : by_width(each))
      for (const auto& block : folded(group.names, group.widths.size()))
        text += (text.empty() ? "" : ",") + text_of(group, block);
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
  constexpr std::size_t kMostDimensions = 4;
  return fold_numbers(names, kMostDimensions);
}

std::string fold_last(std::span<const std::string> names) { return fold_numbers(names, 1); }

}  // namespace cupel::inventory
