#pragma once
// Lines of comma-separated values for spreadsheets. Source: RFC 4180.
#include <initializer_list>
#include <string>
#include <string_view>

namespace cupel {

/// Quoted where it must be, without control characters. What a spreadsheet would take for a formula
/// gets an apostrophe before it, also behind a semicolon, which parts cells where commas part
/// decimals: such texts come from machines. Numbers stay as they are.
std::string csv_cell(std::string_view text);

/// With its end.
std::string csv_line(std::initializer_list<std::string_view> cells);

}  // namespace cupel
