#include "orchestrator/cli/table.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kWidest = 80;

/// Columns on a terminal: bytes that begin a UTF-8 sequence.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string table(std::span<const Row> rows) {
  std::vector<Row> safe;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    Row cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      auto cell = printable(row[i]);
      cells.push_back(last ? std::move(cell) : shortened(cell, kWidest));
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(cells.back()));
    }
    safe.push_back(std::move(cells));
  }
  std::string text;
  for (const auto& row : safe) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - width_of(row[i]) + 1, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace cupel::cli
