#include "inventory/sheet.h"

#include <fmt/format.h>

#include <algorithm>

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

bool is_begin(std::string_view cell) { return trimmed(cell).empty() || trimmed(cell) == "="; }

}  // namespace

std::string too_many_bad_rows() {
  return fmt::format("{} rows cannot be used: the rest is not read", kMostBadRows);
}

std::string sheet_text(std::string_view bytes) {
  const bool little = bytes.starts_with("\xFF\xFE"), big = bytes.starts_with("\xFE\xFF");
  if (!little && !big) {
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    return valid_utf8(bytes);
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
