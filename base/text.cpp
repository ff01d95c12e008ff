#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/never_null.h"

namespace cupel {

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos) return never_null({});
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  for (;;) {
    const auto start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos) return found;
    text.remove_prefix(start);
    const auto length = std::min(text.find_first_of(" \t\r\n"), text.size());
    found.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    found.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string plain(double value, int digits) {
  auto text = fmt::format("{:.{}f}", value, digits);
  if (text.find('.') == text.npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

namespace {

/// Optimal string alignment distance: insertions, deletions, changes, swapped neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

template <class Known>
std::optional<std::string> nearest_of(std::string_view typed, const Known& known) {
  constexpr std::size_t kLongestWord = 64;
  if (typed.size() > kLongestWord) return std::nullopt;
  const auto requested = lower_case(typed);
  std::optional<std::string> best;
  auto best_cost = std::max<std::size_t>(1, requested.size() / 3) + 1;
  for (const std::string_view word : known) {
    if (word.size() > kLongestWord) continue;
    const auto cost = edits(requested, lower_case(word));
    if (cost < best_cost) {
      best = std::string{word};
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

std::optional<std::string> nearest(std::string_view typed,
                                   std::span<const std::string_view> known) {
  return nearest_of(typed, known);
}

std::optional<std::string> nearest(std::string_view typed, std::span<const std::string> known) {
  return nearest_of(typed, known);
}

std::string shell_quoted(std::string_view text) {
  std::string quoted{"'"};
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string cupel_command(std::string_view command, std::string_view state) {
  constexpr std::string_view kName = "cupel";
  constexpr std::string_view kOfAWord =  // which a shell leaves as they are
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%";
  if (state.empty() || !command.starts_with(kName)) return std::string{command};
  const bool whole = state.find_first_not_of(kOfAWord) == state.npos;
  return std::string{kName} + " --state " + (whole ? std::string{state} : shell_quoted(state)) +
         std::string{command.substr(kName.size())};
}

namespace {

/// Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none. No overlong form,
/// no surrogate, nothing over U+10FFFF: Unicode 15, table 3-7.
std::size_t sequence_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const auto second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

struct CodePoints {
  char32_t first;
  char32_t last;
};

// What moves a cursor, breaks a line, turns the order of letters round or is not seen at all: two
// texts that look alike must be alike. Source: Unicode 15, DerivedCoreProperties.txt,
// Default_Ignorable_Code_Point; Cc, Zl and Zp and the interlinear annotations besides, and what is
// no character of XML 1.0 (2.2).
constexpr std::array kHidden{
    CodePoints{0x0000, 0x001F},   CodePoints{0x007F, 0x009F},   CodePoints{0x00AD, 0x00AD},
    CodePoints{0x034F, 0x034F},   CodePoints{0x061C, 0x061C},   CodePoints{0x115F, 0x1160},
    CodePoints{0x17B4, 0x17B5},   CodePoints{0x180B, 0x180F},   CodePoints{0x200B, 0x200F},
    CodePoints{0x2028, 0x202E},   CodePoints{0x2060, 0x206F},   CodePoints{0x3164, 0x3164},
    CodePoints{0xFE00, 0xFE0F},   CodePoints{0xFEFF, 0xFEFF},   CodePoints{0xFFA0, 0xFFA0},
    CodePoints{0xFFF0, 0xFFFB},   CodePoints{0xFFFE, 0xFFFF},   CodePoints{0x1BCA0, 0x1BCA3},
    CodePoints{0x1D173, 0x1D17A}, CodePoints{0xE0000, 0xE0FFF},
};

bool is_hidden(char32_t point) {
  if (point < 0x7F) return point < 0x20;
  return std::ranges::any_of(kHidden, [point](const CodePoints& each) {
    return each.first <= point && point <= each.last;
  });
}

/// The code point of one whole sequence.
char32_t point_of(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  char32_t point = first & (0xFFu >> (sequence.size() + 1));
  for (const char c : sequence.substr(1))
    point = (point << 6) | (static_cast<unsigned char>(c) & 0x3Fu);
  return point;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Calls `take` with each whole sequence of `text`, and with U+FFFD for each byte that is in none.
template <class Take>
void each_sequence(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto length = sequence_at(text);
    take(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  each_sequence(text, [&](std::string_view sequence) { valid += sequence; });
  return valid;
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  // Only whole sequences are dropped and only whole ones are kept: what stood on both sides of
  // something dropped cannot join.
  each_sequence(text, [&](std::string_view sequence) {
    if (sequence == "\t")
      clean += ' ';
    else if (!is_hidden(point_of(sequence)))
      clean += sequence;
  });
  return clean;
}

namespace {

bool is_in_a_word(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at)) {
    const auto end = at + word.size();
    const bool within =
        (at > 0 && is_in_a_word(text[at - 1])) || (end < text.size() && is_in_a_word(text[end]));
    if (!within) text.replace(at, word.size(), by);
    at += within ? word.size() : by.size();
  }
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  auto end = limit > 3 ? limit - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string{text.substr(0, end)} + "...";
}

std::string shortened_at_word(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  const auto room = limit > 3 ? limit - 3 : 0;
  // A blank just behind what fits ends a word too.
  const auto blank = text.substr(0, room + 1).rfind(' ');
  if (blank == text.npos || blank < limit / 2) return shortened(text, limit);
  return std::string{text.substr(0, blank)} + "...";
}

}  // namespace cupel
