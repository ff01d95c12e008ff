#include "base/csv.h"

#include <gtest/gtest.h>

namespace cupel {
namespace {

TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell("gpu3"), "gpu3");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("ATX, 4.2"), "\"ATX, 4.2\"");
  EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_cell("two\r\nlines\x1b[31m"), "twolines[31m");
}

TEST(CsvCell, IsNoFormulaAndStaysANumber) {
  for (const auto* text : {"=1+1", "+1", "-1+cmd", "@SUM(A1)", " =1", "-",
                           "\xEF\xBC\x9D"
                           "1"})
    EXPECT_EQ(csv_cell(text), "'" + std::string{text});
  EXPECT_EQ(csv_cell("\t=1"), "' =1");
  EXPECT_EQ(csv_cell("\"=1"), "\"'\"\"=1\"");
  for (const auto* number : {"-1", "-1.5", "-2e-05", "1905"}) EXPECT_EQ(csv_cell(number), number);
}

/// Where commas part decimals, a spreadsheet parts cells by semicolons.
TEST(CsvCell, HasNoFormulaBehindASemicolon) {
  EXPECT_EQ(csv_cell("a;=1"), "a;'=1");
  EXPECT_EQ(csv_cell("a; \"@x\""), "\"a;' \"\"@x\"\"\"");
  EXPECT_EQ(csv_cell("a;b"), "a;b");
}

TEST(CsvLine, EndsAsRfc4180Says) {
  EXPECT_EQ(csv_line({"", "a", "b,c"}), ",a,\"b,c\"\r\n");
  EXPECT_EQ(csv_line({"", ""}), ",\r\n");
}

}  // namespace
}  // namespace cupel
