// Small files that would be large once they are read: what is counted, and where it is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/load.h"
#include "inventory/node_range.h"
#include "inventory/yaml_bounds.h"

namespace cupel::inventory {
namespace {
using ::testing::HasSubstr;

struct Read {
  std::optional<YamlDocument> document;
  std::vector<Problem> problems{};
};

Read read(const std::string& text) {
  Read read;
  read.document = parse_yaml(text, "f.yaml", read.problems);
  EXPECT_NE(read.document.has_value(), !read.problems.empty());
  return read;
}

TEST(Yaml, CountsAnAliasAsWhatItStandsFor) {
  const auto document = read("a: &a [xy, {k: long}]\nb: *a\nc: [*a, *a]\n").document;

  ASSERT_TRUE(document);
  // The map, its three keys and [*a, *a]; four times a list, xy, a map, k and long.
  EXPECT_EQ(cost_of(document->root), (YamlCost{1 + 3 + 1 + 4 * 5, 3 + 4 * (2 + 1 + 4)}));
}

TEST(Yaml, RefusesALongTextThatManyAliasesStandFor) {
  const std::size_t length = kLongestYamlText;
  std::string text = "a: &a " + std::string(length, 'x') + "\nb:\n";
  for (int i = 0; i < 20'000; ++i) text += "- *a\n";

  const auto problems = read(text).problems;

  // With the one that was written, and the one kept for the aliases.
  const int held = static_cast<int>(kMostYamlBytes / length);
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].where.line, 2 + held - 1);
  EXPECT_THAT(problems[0].what, HasSubstr("16 MiB of text"));
}

TEST(Yaml, RefusesATextOfAMegabyte) {
  EXPECT_EQ(to_string(read("a: " + std::string(1 << 20, 'x') + "\n").problems),
            "f.yaml:1:4: a text of 1048576 bytes: at most 64 KiB\n");
}

TEST(Yaml, RefusesAliasesOfAliasesBeforeTheirValuesAreMade) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 9; ++j) text += fmt::format("{}*a{}", j > 0 ? "," : "", i - 1);
    text += "]\n";
  }

  const auto problems = read(text).problems;

  // A list of level i holds (9^(i+2) - 1) / 8 values, made once for its aliases and once in place:
  // level 4 has 66,430 of them, so that the second alias of level 5 is too many.
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].where.line, 6);
  EXPECT_THAT(problems[0].what, HasSubstr("the aliases stand for more than 250000 values"));
}

TEST(Yaml, CountsWhatNestedAnchorsKeep) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("&a{} [", i);
  for (int i = 0; i < 10'000; ++i) text += "x,";
  text += std::string(60, ']');

  const auto problems = read(text).problems;

  ASSERT_EQ(problems.size(), 1);
  EXPECT_THAT(problems[0].what, HasSubstr("the aliases stand for more than 250000 values"));
}

TEST(Yaml, RefusesASecondDocument) {
  EXPECT_EQ(to_string(read("a: 1\n---\nb: 2\n").problems),
            "f.yaml:2:1: a second document begins here: a file holds one, so put this into a file "
            "of its own\n");
  EXPECT_TRUE(read("---\na: 1\n...\n").document);
}

TEST(Yaml, SaysWhatToDoInsteadOfAMergeKey) {
  EXPECT_EQ(to_string(read("a: &a {x: 1}\nb: {<<: *a, y: 2}\n").problems),
            "f.yaml:2:5: '<<' merges no maps here: put what all nodes share under defaults:, or "
            "repeat a whole value with an alias (bmc: *bmc)\n");
}

TEST(NodeRange, IsCountedWithoutBeingWrittenOut) {
  EXPECT_EQ(count_names("a[1-3]b[01-10/3], c").value(), 3 * 4 + 1);
  EXPECT_EQ(count_names("n[1-100000]").value(), 100'000);
  for (const std::string& bomb :
       {std::string(60'000, 'A') + "[1-100000]", "[" + std::string(60'000, '0') + "1-99999]",
        "n[1-100000]," + std::string{"n[1-100000]"}, std::string{"[1-99999][1-99999][1-99999]"},
        "[0-4294967295" + std::string(30'000, ',') + "1]"}) {
    const auto counted = count_names(bomb);
    ASSERT_FALSE(counted) << bomb.substr(0, 40);
    EXPECT_LT(counted.error().what.size(), 300) << "a bomb must not be quoted whole";
    EXPECT_EQ(expand(bomb).error().what, counted.error().what);
  }
  EXPECT_THAT(count_names(std::string(301, 'A')).error().what,
              HasSubstr("a name of more than 300 characters"));
  EXPECT_THAT(count_names("n[" + std::string(33, '0') + "-7]").error().what,
              HasSubstr("a number of more than 32 digits"));
}

TEST(LoadInventory, RefusesMoreRacksAndBreakersThanASiteHas) {
  const auto reported = to_string(
      parse_inventory("site: l\nracks:\n  - name: r[1-1000]\n    pdus:\n"
                      "      - {name: \"p[1-1000]\", watts: 5, breakers: [{name: b, watts: 5}]}\n",
                      "site.yaml", "/nowhere")
          .problems);

  EXPECT_THAT(reported,
              HasSubstr("site.yaml:5:16: more than 200000 racks, rooms, PDUs and breakers"));
}

TEST(LoadInventory, StopsAfterTheLimitOfErrors) {
  std::string text = "site: lab\nnodes:\n";
  for (int i = 0; i < 50'000; ++i) text += "- {}\n";

  const auto problems = parse_inventory(text, "site.yaml", "/nowhere").problems;

  ASSERT_EQ(problems.size(), kMostProblems + 1);
  EXPECT_EQ(problems.back().what, "9001 more errors are not listed");
}

}  // namespace
}  // namespace cupel::inventory
