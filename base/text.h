#pragma once
// Small pure functions on text. Nothing that knows a file format.
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel {

/// Without blanks, tabs and line ends on both sides.
std::string_view trimmed(std::string_view text);

/// The pieces between `separator`; an empty text has one empty piece.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The pieces between runs of blanks and tabs; none of them empty.
std::vector<std::string_view> words(std::string_view text);

/// The lines, without their ends ("\n" or "\r\n"); a last line without an end counts.
std::vector<std::string_view> lines(std::string_view text);

std::string lower_case(std::string_view text);

/// The whole text as a number, or nothing.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc{} && stop == end && !text.empty() ? std::optional{value}
                                                                : std::nullopt;
}

/// A number for people: at most `digits` after the point, no trailing zeros.
std::string plain(double value, int digits = 3);

/// Each `word` of `text` that stands alone replaced: the NODE of "NODE1" does not. What is put in
/// is not searched again.
void replace_word(std::string& text, std::string_view word, std::string_view by);

/// The word of `known` that `typed` most likely meant, or nothing if none is close.
std::optional<std::string> nearest(std::string_view typed, std::span<const std::string_view> known);
std::optional<std::string> nearest(std::string_view typed, std::span<const std::string> known);

/// One argument quoted so that a POSIX shell reads back exactly `text`.
std::string shell_quoted(std::string_view text);

/// A command of Cupel's own, "cupel status", as it is typed where it does not find its state folder
/// by itself: "cupel --state FOLDER status". Unchanged where `state` is empty.
std::string cupel_command(std::string_view command, std::string_view state);

/// `text` with everything dropped that could move a terminal's cursor or break a line: what comes
/// from BMCs and nodes is printed through this.
std::string printable(std::string_view text);

/// `text` with U+FFFD for each byte that is no part of UTF-8: JSON is nothing else (RFC 8259, 8.1).
std::string valid_utf8(std::string_view text);

/// At most `limit` bytes, with "..." where something was cut; never cuts a UTF-8 sequence.
std::string shortened(std::string_view text, std::size_t limit);

/// The same, ending with a whole word; inside one only where a single word is longer than half of
/// the limit.
std::string shortened_at_word(std::string_view text, std::size_t limit);

}  // namespace cupel
