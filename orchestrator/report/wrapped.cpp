#include "orchestrator/report/wrapped.h"

#include <algorithm>

namespace cupel::report {
namespace {

/// Columns on a terminal: bytes that begin a UTF-8 sequence.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  if (width == 0) return std::string{text};
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool first = column == indent;
    const bool fits = column + (first ? 0 : 1) + columns_of(word) <= width;
    if (!first && !fits) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns_of(word);
  }
  return lines;
}

}  // namespace cupel::report
