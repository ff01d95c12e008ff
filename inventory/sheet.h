#pragma once
// Tables as spreadsheets save them: comma-separated values in all of their manners. Pure. Source:
// RFC 4180.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::inventory {

/// After so many rows that cannot be used the rest of a file is not read.
constexpr std::size_t kMostBadRows = 1'000;
std::string too_many_bad_rows();

constexpr std::string_view kUnclosedQuote = "a quote is opened here and not closed";

/// As UTF-8 without a byte order mark. UTF-16 is known by its mark; its characters beyond the first
/// plane become U+FFFD: they stand in no name and no serial number. Without a mark, a line that
/// is no UTF-8 is Windows-1252.
std::string sheet_text(std::string_view bytes);

/// Comma, semicolon or tab: by which the cells of this line are parted most often.
char separator_of(std::string_view header);

/// Rows parted by any line end; quoted cells also have line ends in them. A quote opens a cell only
/// where it begins: behind a number it is an inch. Cells come without what spreadsheets put around
/// a text (blanks, ="..." and an apostrophe), and printable. At most 256 cells of 256 bytes, and
/// 100 lines a row. `text` is as sheet_text() makes it, and outlives the reader.
class SheetReader {
 public:
  explicit SheetReader(std::string_view text) : text_{text} {}

  bool is_at_end() const { return text_.empty(); }
  /// In which the row begins that next() has read last.
  int line() const { return line_; }
  void set_separator(char separator) { separator_ = separator; }

  /// The line at which next() begins.
  std::string_view peek() const { return text_.substr(0, text_.find_first_of("\r\n")); }

  /// Nothing where a quote is not closed; the row then ends with its first line.
  std::optional<std::vector<std::string>> next();

 private:
  bool is_crlf(std::size_t at) const { return text_.substr(at).starts_with("\r\n"); }
  void skip(std::size_t end, int lines);

  std::string_view text_;
  char separator_ = ',';
  int line_ = 0, next_line_ = 1;
};

}  // namespace cupel::inventory
