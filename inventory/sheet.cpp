#include "inventory/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestCell = 256, kMostCells = 256;
constexpr int kMostLinesOfRow = 100;

std::string cell_text(std::string text) {
  constexpr std::string_view kNoBreak = "\xC2\xA0";
  for (auto at = text.find(kNoBreak); at != text.npos; at = text.find(kNoBreak, at))
    text.replace(at, kNoBreak.size(), " ");
  auto bare = trimmed(text);
  if (bare.starts_with('=')) bare.remove_prefix(1);
  if (bare.starts_with('\'')) bare.remove_prefix(1);
  return printable(trimmed(bare));
}

/// Windows-1252, in which spreadsheets write where they do not write UTF-8. Source: Unicode,
/// CP1252.TXT; its five bytes without a character are U+FFFD.
std::string of_windows_1252(std::string_view bytes) {
  constexpr std::array<char32_t, 32> kFrom80{
      0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
      0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
      0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};
  std::string out;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_of_table = byte >= 0x80 && byte < 0xA0;
    append_utf8(out, is_of_table ? kFrom80[byte - 0x80U] : byte);
  }
  return out;
}

/// Line by line: one bad byte of a file in UTF-8 leaves the other lines, and its header, as they
/// are.
std::string of_utf8_or_windows_1252(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const auto line = bytes.substr(0, std::min(bytes.find('\n'), bytes.size() - 1) + 1);
    const auto text = valid_utf8(line);
    out += text == line ? text : of_windows_1252(line);
    bytes.remove_prefix(line.size());
  }
  return out;
}

bool is_begin(std::string_view cell) { return trimmed(cell).empty() || trimmed(cell) == "="; }

}  // namespace

std::string too_many_bad_rows() {
  return fmt::format("{} rows cannot be used: the rest is not read", kMostBadRows);
}

std::string sheet_text(std::string_view bytes) {
  const bool little = bytes.starts_with("\xFF\xFE"), big = bytes.starts_with("\xFE\xFF");
  if (!little && !big) {
    const bool is_marked = bytes.starts_with("\xEF\xBB\xBF");
    if (is_marked) bytes.remove_prefix(3);
    return is_marked ? valid_utf8(bytes) : of_utf8_or_windows_1252(bytes);
  }
  std::string out;
  for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
    const auto low = static_cast<unsigned char>(bytes[little ? i : i + 1]);
    const auto high = static_cast<unsigned char>(bytes[little ? i + 1 : i]);
    append_utf8(out, high * 256U + low);
  }
  return out;
}

char separator_of(std::string_view header) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char each : {',', ';', '\t'}) {
    const auto count = std::ranges::count(header, each);
    if (count > most) best = each;
    most = std::max(most, count);
  }
  return best;
}

std::optional<std::vector<std::string>> SheetReader::next() {
  line_ = next_line_;
  std::vector<std::string> cells(1);
  bool quoted = false;
  int lines = 1;
  const auto put = [&](char one) {
    if (cells.back().size() < kLongestCell) cells.back() += one;
  };
  std::size_t at = 0;
  for (; at < text_.size(); ++at) {
    const char one = text_[at];
    const bool ends = one == '\n' || one == '\r';
    if (quoted && one == '"' && text_.substr(at + 1).starts_with('"')) {
      put(text_[at++]);
    } else if (quoted && one == '"') {
      quoted = false;
    } else if (quoted && ends) {
      put(' ');
      at += is_crlf(at) ? 1 : 0;
      if (++lines > kMostLinesOfRow) break;
    } else if (quoted) {
      put(one);
    } else if (ends) {
      break;
    } else if (one == '"' && is_begin(cells.back())) {
      quoted = true;
    } else if (one == separator_ && cells.size() < kMostCells) {
      cells.emplace_back();
    } else {
      put(one);
    }
  }
  if (quoted) {
    skip(peek().size(), 1);
    return std::nullopt;
  }
  skip(at, lines);
  for (auto& cell : cells) cell = cell_text(std::move(cell));
  return cells;
}

void SheetReader::skip(std::size_t end, int lines) {
  if (end < text_.size()) end += is_crlf(end) ? 2 : 1;
  text_.remove_prefix(std::min(end, text_.size()));
  next_line_ += lines;
}

}  // namespace cupel::inventory
