#include "burnin/agent/common/options.h"

#include <gmock/gmock.h>

#include <array>

namespace cupel::agent {
namespace {

using Kind = Choice::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array kRows{
    Choice{.name = "--folder", .kind = Kind::kText},
    Choice{.name = "--limit", .kind = Kind::kCount, .fallback = "60", .low = 1, .high = 3600},
    Choice{.name = "--every", .kind = Kind::kSeconds, .fallback = "1", .low = 0.05, .high = 60},
    Choice{.name = "--max", .kind = Kind::kSize, .fallback = "8", .low = 4, .high = 1e12},
    Choice{.name = "--force"},
    Choice{.name = "--again", .kind = Kind::kTimes, .low = 1, .high = 9}};

Result<Options> read(std::vector<std::string_view> arguments) {
  return Options::read(kRows, arguments);
}

TEST(Options, HaveTheRowsFallbackWhereNothingIsGiven) {
  const auto options = read({});

  ASSERT_TRUE(options);
  EXPECT_EQ(options->count("--limit"), 60);
  EXPECT_EQ(options->text("--folder"), "");
  EXPECT_FALSE(options->flag("--force"));
  EXPECT_EQ(options->number("--again"), 0);
  EXPECT_FALSE(options->given("--limit"));
}

TEST(Options, ReadValuesOperandsAndTheCommandBehindTwoDashes) {
  const auto options = read({"name", "--folder", "/a/b", "--every", "0.5s", "--max", "16K",
                             "--force", "--again", "--limit", "7", "--", "sh", "--force"});

  ASSERT_TRUE(options) << options.error().what;
  EXPECT_EQ(options->text("--folder"), "/a/b");
  EXPECT_EQ(options->number("--every"), 0.5);
  EXPECT_EQ(options->number("--max"), 16384);
  EXPECT_TRUE(options->flag("--force"));
  EXPECT_EQ(options->number("--again"), 1);
  EXPECT_EQ(options->count("--limit"), 7);
  EXPECT_THAT(options->operands(), ElementsAre("name"));
  EXPECT_THAT(options->command(), ElementsAre("sh", "--force"));
}

TEST(Options, NameTheOptionThatIsWrong) {
  const std::vector<std::vector<std::string_view>> wrong{{"--wat"},
                                                         {"--limit"},
                                                         {"--limit", "0"},
                                                         {"--limit", "1.5"},
                                                         {"--limit", "3601"},
                                                         {"--limit", "nan"},
                                                         {"--every", "0.01"},
                                                         {"--max", "1P"},
                                                         {"--again", "10"},
                                                         {"--folder"},
                                                         {"--force", "--force"},
                                                         {"--folder", "/a", "--folder", "/b"}};
  for (const auto& arguments : wrong) {
    const auto options = read(arguments);

    ASSERT_FALSE(options) << ::testing::PrintToString(arguments);
    EXPECT_EQ(options.error().code, Code::kInvalid);
    EXPECT_THAT(options.error().what, HasSubstr(std::string{arguments[0]}));
  }
}

}  // namespace
}  // namespace cupel::agent
