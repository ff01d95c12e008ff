#include "burnin/agent/burn/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr std::array kOwn{
    Choice{.name = "--hertz", .kind = Kind::kNumber, .fallback = "1", .low = 0.1, .high = 10},
    Choice{
        .name = "--types", .kind = Kind::kWords, .fallback = "bf16,fp8", .words = "bf16,fp8,fp64"},
    Choice{
        .name = "--pattern", .kind = Kind::kWord, .fallback = "steady", .words = "steady,square"},
    Choice{.name = "--baseline"},
};

Outcome<Options> parse(std::vector<std::string_view> arguments) {
  return Options::parse("gemm", kOwn, arguments, 42);
}

TEST(BurnOptions, WhatIsNotSaidHasItsFallback) {
  const auto options = parse({});

  ASSERT_TRUE(options);
  EXPECT_EQ(options.assume_value().seconds().count(), 60);
  EXPECT_EQ(options.assume_value().hang_after().count(), 60);
  EXPECT_EQ(options.assume_value().seed(), 42);
  EXPECT_EQ(options.assume_value().self_tests(), 0);
  EXPECT_TRUE(options.assume_value().gpus().empty());
  EXPECT_EQ(options.assume_value().words("--types"), (std::vector<std::string>{"bf16", "fp8"}));
  EXPECT_FALSE(options.assume_value().flag("--baseline"));
}

TEST(BurnOptions, WhatIsSaidIsTaken) {
  const auto options = parse({"--seconds", "2.5", "--gpus", "3,0-1", "--self-test", "1000",
                              "--hertz", "0.1", "--types", "fp64", "--pattern", "square",
                              "--baseline", "--seed", "7", "--rounds", "9"});

  ASSERT_TRUE(options) << options.assume_error().message;
  EXPECT_EQ(options.assume_value().seconds().count(), 2.5);
  EXPECT_EQ(options.assume_value().gpus(), (std::vector{0, 1, 3}));
  EXPECT_EQ(options.assume_value().self_tests(), 1000);
  EXPECT_EQ(options.assume_value().number("--hertz"), 0.1);
  EXPECT_EQ(options.assume_value().word("--pattern"), "square");
  EXPECT_TRUE(options.assume_value().flag("--baseline"));
  EXPECT_EQ(options.assume_value().seed(), 7);
  EXPECT_EQ(options.assume_value().rounds(), 9);
}

TEST(BurnOptions, ASelfTestAloneIsOne) {
  EXPECT_EQ(parse({"--self-test"}).assume_value().self_tests(), 1);
  EXPECT_EQ(parse({"--self-test", "--baseline"}).assume_value().self_tests(), 1);
}

TEST(BurnOptions, WhatDoesNotFitIsRefusedByItsName) {
  const std::vector<std::vector<std::string_view>> wrong{
      {"--seconds", "0"},
      {"--seconds", "604801"},
      {"--seconds", "nan"},
      {"--seconds", "1e400"},
      {"--seconds", "5x"},
      {"--seconds", ""},
      {"--seconds"},
      {"--hertz", "11"},
      {"--rounds", "1.5"},
      {"--rounds", "-1"},
      {"--types", "fp4"},
      {"--types", "bf16,fp4"},
      {"--pattern", ""},
      {"--gpus", ""},
      {"--gpus", "-1"},
      {"--gpus", "64"},
      {"--gpus", "1,1"},
      {"--gpus", "3-1"},
      {"--gpus", "0-99999999"},
      {"--seed", "-1"},
      {"--self-test", "0"},
      {"--self-test", "1000001"},
      {"--wat"},
      {"stray"},
  };
  for (const auto& arguments : wrong) {
    const auto options = parse(arguments);

    ASSERT_FALSE(options) << testing::PrintToString(arguments);
    EXPECT_EQ(options.assume_error().code, "usage");
    EXPECT_THAT(options.assume_error().message, testing::HasSubstr(std::string{arguments[0]}));
  }
}

TEST(BurnOptions, TheParametersAreAnObject) {
  const auto options = parse({"--gpus", "0,2", "--seed", "18446744073709551615"});

  const auto parameters = parse_json(options.assume_value().parameters());

  ASSERT_TRUE(parameters);
  EXPECT_EQ(text_at(parameters.assume_value(), "seed"), "18446744073709551615");
  EXPECT_EQ(text_at(parameters.assume_value(), "gpus"), "0,2");
  EXPECT_EQ(number_at(parameters.assume_value(), "hertz"), 1);
}

}  // namespace
}  // namespace cupel::burn
