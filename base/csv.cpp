#include "base/csv.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel {
namespace {

/// Whether a cell that begins so is a formula. Blanks and quotes before it do not count; the wide
/// forms are those of East Asian keyboards (U+FF1D, U+FF0B, U+FF0D, U+FF20).
bool begins_formula(std::string_view text) {
  constexpr std::array<std::string_view, 8> kSigns{
      "=", "+", "-", "@", "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\xA0"};
  text.remove_prefix(std::min(text.find_first_not_of(" \""), text.size()));
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return text.starts_with(sign); });
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const auto clean = printable(text);
  std::string cell;
  if (begins_formula(clean) && !number<double>(clean)) cell += '\'';
  for (std::size_t at = 0; at < clean.size(); ++at) {
    cell += clean[at];
    if (clean[at] == '"') cell += '"';
    if (clean[at] == ';' && begins_formula(std::string_view{clean}.substr(at + 1))) cell += '\'';
  }
  return cell.find_first_of(",\"") == cell.npos ? cell : '"' + cell + '"';
}

std::string csv_line(std::initializer_list<std::string_view> cells) {
  std::string line;
  for (bool first = true; const auto each : cells) {
    if (!first) line += ',';
    first = false;
    line += csv_cell(each);
  }
  return line + "\r\n";
}

}  // namespace cupel
