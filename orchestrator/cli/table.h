#pragma once
// Aligned columns for people, safe for terminals. Pure text.
#include <span>
#include <string>
#include <vector>

namespace cupel::cli {

using Row = std::vector<std::string>;

/// One line a row, each column as wide as its widest cell, the first row being the headings; every
/// line indented by two blanks, none ends with blanks. Cells come from anywhere: they pass
/// printable(), and are cut at 80 bytes but for the last of a row.
std::string table(std::span<const Row> rows);

}  // namespace cupel::cli
