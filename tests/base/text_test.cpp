#include "base/text.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

using testing::ElementsAre;

TEST(Text, IsCutIntoPiecesWordsAndLines) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(words("  a \t b "), ElementsAre("a", "b"));
  EXPECT_THAT(lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(number<int>("42"), 42);
  EXPECT_EQ(number<int>("42 "), std::nullopt);
  EXPECT_EQ(number<int>(""), std::nullopt);
  EXPECT_EQ(number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(number<double>("2.5"), 2.5);
}

TEST(Text, PlainNumbersHaveNoTrailingZeros) {
  EXPECT_EQ(plain(2.5), "2.5");
  EXPECT_EQ(plain(2), "2");
  EXPECT_EQ(plain(100), "100");
  EXPECT_EQ(plain(-0.0001), "0");
  EXPECT_EQ(plain(1234.5678, 1), "1234.6");
}

TEST(Text, FindsTheNearestWordOrNone) {
  const std::vector<std::string> known{"password", "user", "address"};

  EXPECT_EQ(nearest("pasword", std::span{known}), "password");
  EXPECT_EQ(nearest("USRE", std::span{known}), "user");
  EXPECT_EQ(nearest("protocol", std::span{known}), std::nullopt);
}

TEST(Text, PrintableDropsWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[31mb\r\nc\a\td\x7f"), "a[31mbc d");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b"),
            "ab");
  EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
}

TEST(Text, ValidUtf8KeepsWhatIsAndMarksWhatIsNot) {
  const std::string mark = "\xEF\xBF\xBD";

  EXPECT_EQ(valid_utf8("caf\xC3\xA9 \xF0\x9F\x94\xA5"), "caf\xC3\xA9 \xF0\x9F\x94\xA5");
  EXPECT_EQ(valid_utf8("\xE9!"), mark + "!");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), mark + mark) << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), mark + mark + mark) << "surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), mark + mark + mark + mark) << "over U+10FFFF";
  EXPECT_EQ(valid_utf8("a\xE2\x82"), "a" + mark + mark) << "cut off";
}

TEST(Text, ShortenedNeverCutsACharacter) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("ab\xC3\xA9"
                      "defg",
                      6),
            "ab...");
}

TEST(Text, AShellReadsBackWhatWasQuoted) {
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace cupel
