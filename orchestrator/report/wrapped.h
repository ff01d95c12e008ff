#pragma once
// Sentences that fit a terminal. Pure text.
#include <string>
#include <string_view>

namespace cupel::report {

/// The text, whose first line stands behind `indent` columns already, broken at blanks so that no
/// line is wider than `width`; further lines begin with as many blanks. A word that is wider than
/// its line stays whole: commands are copied. 0: no width is reported, one line.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace cupel::report
