#pragma once
// The small pieces of which the HTML report is made.
#include <initializer_list>
#include <string>
#include <string_view>

namespace cupel::report {

/// Safe inside an element and inside a quoted attribute: what comes from machines is hostile.
std::string escaped(std::string_view text);

/// Escaped, and free to break behind each comma: a list of names without blanks.
std::string broken_at_commas(std::string_view text);

struct Column {
  std::string_view title;
  int percent;  // of the table's width
};

/// Up to its first row; the header is repeated on every printed page. Columns are as wide as they
/// are reported and text wraps in them, so that none is pushed off the page.
std::string table_begin(std::initializer_list<Column> columns);
inline constexpr std::string_view kTableEnd = "</tbody></table>";

/// Closed on a screen until its title is chosen; always open on paper. Without a script, and
/// without <details>, which not every browser opens to print. `id` must be the only one of its
/// name.
std::string folded(std::string_view id, std::string_view title, std::string_view body);

/// The style sheet of all of it.
extern const std::string_view kStyle;

/// The script that searches in it. All else works without.
extern const std::string_view kScript;

}  // namespace cupel::report
