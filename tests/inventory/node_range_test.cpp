#include "inventory/node_range.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>
#include <set>

namespace cupel::inventory {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> expanded(std::string_view range) {
  auto names = expand(range);
  EXPECT_TRUE(names) << range << ": " << (names ? "" : names.error().what);
  return names ? *names : std::vector<std::string>{};
}

TEST(NodeRange, ReadsWhatSlurmAndClusterShellUsersWrite) {
  EXPECT_THAT(expanded("n7"), ElementsAre("n7"));
  EXPECT_THAT(expanded("a01-n[08-11]"), ElementsAre("a01-n08", "a01-n09", "a01-n10", "a01-n11"));
  EXPECT_THAT(expanded("n[1,3-4]"), ElementsAre("n1", "n3", "n4"));
  EXPECT_THAT(expanded("n[0-6/3]"), ElementsAre("n0", "n3", "n6"));
  EXPECT_THAT(expanded("10.0.1.[9-11]"), ElementsAre("10.0.1.9", "10.0.1.10", "10.0.1.11"));
  EXPECT_THAT(expanded("r[1-2]n[1-2]-ib"), ElementsAre("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"));
  EXPECT_THAT(expanded("a, b[1-2],c"), ElementsAre("a", "b1", "b2", "c"));
}

TEST(NodeRange, SaysWhereARangeIsWrong) {
  const std::vector<std::pair<std::string_view, std::string_view>> faults{
      {"n[1-", "'[' without ']' at character 2"},
      {"n1-3]", "']' without '[' at character 5"},
      {"n[3-1]", "runs backwards"},
      {"n[1-x]", "is not a number or a range"},
      {"n[1-3/0]", "is not a number or a range"},
      {"a,,b", "a name is missing at character 3"},
      {"", "a name is missing"},
      {"n[0-4294967295]", "more than 100000 names"},
      {"n[0-999][0-999]", "more than 100000 names"},
  };
  for (const auto& [range, why] : faults) {
    const auto names = expand(range);
    ASSERT_FALSE(names) << range;
    EXPECT_THAT(names.error().what, HasSubstr(std::string{why}));
  }
}

TEST(NodeRange, FoldsWhatItExpands) {
  for (const std::string_view range :
       {"a01-n[01-03,07]", "n[9-11]x", "login", "r1n[1-2],r2n[1-2]"}) {
    const auto names = expanded(range);

    const auto again = expanded(fold(names));

    EXPECT_THAT(again, ::testing::UnorderedElementsAreArray(names)) << fold(names);
  }
  EXPECT_EQ(fold(expanded("a01-n[01-03,07]")), "a01-n[01-03,07]");
  EXPECT_EQ(fold(std::vector<std::string>{"n2", "n1", "n2"}), "n[1-2]");
  EXPECT_EQ(fold(std::vector<std::string>{"n99999999999999999999999"}), "n99999999999999999999999");
}

TEST(NodeRange, FoldsSeveralNumbersAsNodesetDoes) {
  EXPECT_EQ(fold(expanded("v[01-16]-n[1-4]")), "v[01-16]-n[1-4]");
  EXPECT_EQ(fold(expanded("r[1-12]c[0-2]n[08-11]")), "r[1-12]c[0-2]n[08-11]");
  EXPECT_EQ(fold(expanded("v01-n[1-3],v[02-16]-n[1-4]")), "v01-n[1-3],v[02-16]-n[1-4]");
  EXPECT_EQ(fold(expanded("v[01-15]-n[1-4],v16-n4")), "v[01-15]-n[1-4],v16-n4");
  EXPECT_EQ(fold(expanded("10.0.[1-2].[9-11]")), "10.0.[1-2].[9-11]");
}

TEST(NodeRange, FoldsNumbersWithoutLeadingZerosOverTheirLengths) {
  EXPECT_EQ(fold(expanded("n[1-120]")), "n[1-120]");
  EXPECT_EQ(fold(expanded("n[08-11]")), "n[08-11]");
  EXPECT_EQ(fold(expanded("n[8-9],n[08-11]")), "n[8-9],n[08-11]");
}

TEST(NodeRange, FoldsTheLastNumberAloneForSlurm) {
  EXPECT_EQ(fold_last(expanded("v[01-02]-n[1-4]")), "v01-n[1-4],v02-n[1-4]");
}

/// Names of racks as people give them, with gaps, leading zeros and numbers of any length.
std::vector<std::string> some_names(std::mt19937& random) {
  const auto up_to = [&](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>{0, most}(random);
  };
  const auto width = up_to(3), shape = up_to(4);
  std::vector<std::string> names;
  for (auto count = up_to(60); count > 0; --count) {
    const auto a = up_to(4), b = up_to(12), c = up_to(1) * 4'294'967'290U + up_to(9);
    if (shape == 0) names.push_back(fmt::format("v{:0{}}-n{}", a, width, b));
    if (shape == 1) names.push_back(fmt::format("n{:0{}}", b, up_to(3)));
    if (shape == 2) names.push_back(fmt::format("r{}u{}n{:0{}}-ib", a, up_to(2), b, width));
    if (shape == 3) names.push_back(fmt::format("x{}y{}", c, up_to(2)));
    if (shape == 4) names.push_back(fmt::format("a{}{}.{}.{}.{}.{}", c, c, a, b, a, up_to(1)));
  }
  return names;
}

TEST(NodeRange, FoldsIntoARangeThatExpandsToTheSameNamesEachOnce) {
  std::mt19937 random{20261122};
  for (int round = 0; round < 500; ++round) {
    const auto names = some_names(random);
    if (names.empty()) continue;
    const std::set<std::string> once{names.begin(), names.end()};

    for (const auto& range : {fold(names), fold_last(names)})
      EXPECT_THAT(expanded(range), ::testing::UnorderedElementsAreArray(once)) << range;
  }
}

}  // namespace
}  // namespace cupel::inventory
