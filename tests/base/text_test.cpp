#include "base/text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "base/never_null.h"

namespace cupel {
namespace {

using ::testing::ElementsAre;

TEST(Text, IsCutIntoPiecesWordsAndLines) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(words("  a \t b "), ElementsAre("a", "b"));
  EXPECT_THAT(lines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
}

TEST(Text, TrimmedTextIsNeverNull) {
  for (const auto text : {std::string_view{}, std::string_view{""}, std::string_view{" \t\r\n"}}) {
    EXPECT_EQ(trimmed(text), "");
    EXPECT_NE(trimmed(text).data(), nullptr);
    EXPECT_NE(never_null(text).data(), nullptr);
  }
}

TEST(Text, TerminatedTextHasANulWhereTheViewHasNone) {
  const Terminated piece{std::string_view{"a=b&c"}.substr(0, 3)}, none{std::string_view{}};

  EXPECT_EQ(piece.view(), "a=b");
  EXPECT_EQ(piece.view().data()[3], '\0');
  EXPECT_NE(none.view().data(), nullptr);
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

TEST(Text, ReplacesWordsAlsoByOneThatHoldsThem) {
  const auto replaced = [](std::string text, std::string_view by) {
    replace_word(text, "NODE", by);
    return text;
  };

  EXPECT_EQ(replaced("ssh root@NODE; cupel bmc NODE log", "n1"), "ssh root@n1; cupel bmc n1 log");
  EXPECT_EQ(replaced("NODE and NODE", "NODE-7"), "NODE-7 and NODE-7");
  EXPECT_EQ(replaced("NODE1 MY_NODE NODE", ""), "NODE1 MY_NODE ");
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
  EXPECT_EQ(printable("\xC2\xC2\x80\x9B"
                      "31m"),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "31m")
      << "what is dropped joins nothing";
}

TEST(Text, PrintableDropsWhatTurnsTextRoundOrHidesInIt) {
  EXPECT_EQ(printable("a\u202Eb\u2066c\u2069d"), "abcd") << "bidi overrides and isolates";
  EXPECT_EQ(printable("a\u2028b\u2029c"), "abc") << "line and paragraph separators";
  EXPECT_EQ(printable("a\u200Bb\u200Dc\uFEFFd\u00ADe"), "abcde") << "invisible characters";
  EXPECT_EQ(printable("a\U000E0041b"), "ab") << "tags";
  EXPECT_EQ(printable("\u20AC \u4E2D \U0001F525"), "\u20AC \u4E2D \U0001F525");
}

/// The code points of valid UTF-8; nothing if it is none.
std::optional<std::vector<char32_t>> decoded(const std::string& text) {
  std::vector<char32_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const std::size_t length = byte(i) < 0x80             ? 1
                               : (byte(i) & 0xE0) == 0xC0 ? 2
                               : (byte(i) & 0xF0) == 0xE0 ? 3
                               : (byte(i) & 0xF8) == 0xF0 ? 4
                                                          : 0;
    if (length == 0) return std::nullopt;
    char32_t point = length == 1 ? byte(i) : byte(i) & (0xFFu >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return std::nullopt;
      point = (point << 6) | (byte(i + k) & 0x3F);
    }
    points.push_back(point);
    i += length;
  }
  return points;
}

/// Nothing that a terminal obeys in it: neither in UTF-8 nor as a byte of its own, which would be
/// outside of a sequence, and so no UTF-8.
bool is_clean(const std::string& text) {
  const auto points = decoded(text);
  return points && std::ranges::none_of(*points, [](char32_t point) {
           const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
           const bool turns = point >= 0x2028 && point <= 0x202E;
           return control || turns || (point >= 0x2066 && point <= 0x2069);
         });
}

TEST(Text, PrintableLeavesNoControlOfAnyPairOfBytesWhateverStandsAroundIt) {
  const std::array<std::pair<std::string, std::string>, 4> kAround{
      {{"", ""}, {"\xC2", "\x9B"}, {"\xE2\x80", "\xAE"}, {"\xE2", "\x80\xAE"}}};
  std::vector<std::string> wrong;
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      for (const auto& [before, behind] : kAround) {
        const auto bytes = before + static_cast<char>(first) + static_cast<char>(second) + behind;
        const auto once = printable(bytes);
        const bool right = is_clean(once) && printable(once) == once && valid_utf8(once) == once;
        if (!right && wrong.size() < 5) wrong.push_back(bytes);
      }
  EXPECT_THAT(wrong, ::testing::IsEmpty());
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
  EXPECT_EQ(shortened_at_word("one two three", 13), "one two three");
  EXPECT_EQ(shortened_at_word("one two three", 12), "one two...");
  EXPECT_EQ(shortened_at_word("one two three", 10), "one two...");
  EXPECT_EQ(shortened_at_word("a bcdefghijkl", 10), "a bcdef...");
  EXPECT_EQ(shortened("ab\xC3\xA9"
                      "defg",
                      6),
            "ab...");
}

TEST(Text, AShellReadsBackWhatWasQuoted) {
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(Text, ACommandNamesAStateFolderThatItDoesNotFind) {
  EXPECT_EQ(cupel_command("cupel actions 1", ""), "cupel actions 1");
  EXPECT_EQ(cupel_command("cupel actions 1", "/tmp/cupel-1/state"),
            "cupel --state /tmp/cupel-1/state actions 1");
  EXPECT_EQ(cupel_command("cupel status", "/tmp/my rack/state"),
            "cupel --state '/tmp/my rack/state' status");
}

}  // namespace
}  // namespace cupel
