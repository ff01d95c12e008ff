#include "inventory/node_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestRange = 65'536;

constexpr std::size_t kMostShownOfRange = 80;

Error bad(std::string_view range, std::size_t at, std::string_view what) {
  return Error{Code::kInvalid, fmt::format("'{}': {} at character {}",
                                           shortened(range, kMostShownOfRange), what, at + 1)};
}

/// "7", "01-08", "0-9/3".
struct Span {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t step = 1;
  std::size_t width = 0;  // digits, with leading zeros

  std::size_t size() const { return static_cast<std::size_t>((to - from) / step) + 1; }
  std::size_t longest() const { return std::max(width, fmt::formatted_size("{}", to)); }
};

/// A text, then what stands in the brackets behind it; no spans: there are none.
struct RangePiece {
  std::string_view literal;
  std::vector<Span> spans{};
};

using RangePieces = std::vector<RangePiece>;

/// How much it is when it is written out; found without doing so.
struct RangeSize {
  std::size_t names = 1;
  std::size_t longest = 0;  // bytes of the longest name
};

Result<Span> span_of(std::string_view element) {
  const auto slash = element.find('/');
  const auto span = element.substr(0, slash);
  const auto dash = span.find('-');
  const auto from_text = span.substr(0, dash);
  const auto to_text = dash == span.npos ? from_text : span.substr(dash + 1);
  const auto step_text = slash == element.npos ? std::string_view{"1"} : element.substr(slash + 1);
  const auto shown = shortened(element, kMostShownOfRange);
  if (std::max(from_text.size(), to_text.size()) > kWidestNumber)
    return Error{Code::kInvalid,
                 fmt::format("'{}' has a number of more than {} digits", shown, kWidestNumber)};
  const auto from = number<std::uint32_t>(from_text);
  const auto to = number<std::uint32_t>(to_text);
  const auto step = number<std::uint32_t>(step_text);
  if (!from || !to || !step || *step == 0)
    return Error{Code::kInvalid, fmt::format("'{}' is not a number or a range", shown)};
  if (*to < *from) return Error{Code::kInvalid, fmt::format("'{}' runs backwards", shown)};
  return Span{*from, *to, *step, from_text.size()};
}

Result<std::vector<Span>> spans_of(std::string_view inside) {
  std::vector<Span> found;
  for (const auto element : split(inside, ',')) {
    TRY(const auto span, span_of(trimmed(element)));
    found.push_back(span);
  }
  return found;
}

Result<RangePieces> pieces_of(std::string_view range) {
  RangePieces found;
  std::size_t at = 0;
  while (at < range.size()) {
    const auto open = range.find_first_of("[]", at);
    const auto literal = range.substr(at, open == range.npos ? open : open - at);
    if (open == range.npos) {
      found.push_back({literal});
      break;
    }
    if (range[open] == ']') return bad(range, open, "']' without '['");
    const auto close = range.find(']', open);
    if (close == range.npos) return bad(range, open, "'[' without ']'");
    auto spans = spans_of(range.substr(open + 1, close - open - 1));
    if (!spans) return bad(range, open, spans.error().what);
    found.push_back({literal, *std::move(spans)});
    at = close + 1;
  }
  return found;
}

/// Errors: kInvalid, where it is more than what one range may be.
Result<RangeSize> size_of_range(std::string_view range, const RangePieces& pieces) {
  RangeSize size;
  for (const auto& piece : pieces) {
    std::size_t choices = 0, longest = 0;
    for (const auto& span : piece.spans) {
      choices += span.size();
      longest = std::max(longest, span.longest());
    }
    size.longest += piece.literal.size() + longest;
    if (!piece.spans.empty()) size.names *= choices;
    if (choices > kMostNames || size.names > kMostNames)
      return bad(range, 0, fmt::format("more than {} names", kMostNames));
  }
  if (size.longest > kLongestName)
    return bad(range, 0, fmt::format("a name of more than {} characters", kLongestName));
  return size;
}

std::vector<std::string> written_out(const RangePieces& pieces, const RangeSize& size) {
  std::vector<std::string> names{""};
  for (const auto& piece : pieces) {
    for (auto& name : names) name += piece.literal;
    if (piece.spans.empty()) continue;
    std::vector<std::string> product;
    product.reserve(std::min(size.names, kMostNames));
    for (const auto& name : names)
      for (const auto& span : piece.spans)
        for (auto i = span.from; i <= span.to; i += span.step)
          product.push_back(fmt::format("{}{:0{}}", name, i, span.width));
    names = std::move(product);
  }
  return names;
}

/// The ranges between commas that stand outside of brackets.
Result<std::vector<std::string_view>> ranges_in(std::string_view text) {
  if (text.size() > kLongestRange) return Error{Code::kInvalid, "a range of over 64 KiB"};
  std::vector<std::string_view> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size() || (text[i] == ',' && depth == 0);
    if (!end) {
      if (text[i] == '[') ++depth;
      if (text[i] == ']') --depth;
      continue;
    }
    const auto one = trimmed(text.substr(start, i - start));
    if (one.empty()) return bad(text, start, "a name is missing");
    found.push_back(one);
    start = i + 1;
  }
  return found;
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

Result<std::size_t> count_names(std::string_view range) {
  TRY(const auto ranges, ranges_in(range));
  std::size_t names = 0;
  for (const auto one : ranges) {
    TRY(const auto pieces, pieces_of(one));
    TRY(const auto size, size_of_range(one, pieces));
    names += size.names;
    if (names > kMostNames) return bad(range, 0, fmt::format("more than {} names", kMostNames));
  }
  return names;
}

Result<std::vector<std::string>> expand(std::string_view range) {
  TRY(const auto count, count_names(range));
  TRY(const auto ranges, ranges_in(range));
  std::vector<std::string> names;
  names.reserve(count);
  for (const auto one : ranges) {
    TRY(const auto pieces, pieces_of(one));
    TRY(const auto size, size_of_range(one, pieces));
    auto written = written_out(pieces, size);
    names.insert(names.end(), std::make_move_iterator(written.begin()),
                 std::make_move_iterator(written.end()));
  }
  return names;
}

std::string fold(std::span<const std::string> names) {
  constexpr std::size_t kMostDimensions = 4;
  return fold_numbers(names, kMostDimensions);
}

std::string fold_last(std::span<const std::string> names) { return fold_numbers(names, 1); }

}  // namespace cupel::inventory
