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

TEST(BurnOptions, UsesTheDefaultOfAnOptionNotGiven) {
  const auto options = parse({});

  ASSERT_TRUE(options);
  EXPECT_EQ(options->seconds().count(), 60);
  EXPECT_EQ(options->hang_after().count(), 60);
  EXPECT_EQ(options->seed(), 42);
  EXPECT_EQ(options->self_tests(), 0);
  EXPECT_TRUE(options->gpus().empty());
  EXPECT_EQ(options->words("--types"), (std::vector<std::string>{"bf16", "fp8"}));
  EXPECT_FALSE(options->flag("--baseline"));
}

TEST(BurnOptions, ReadsAGivenOption) {
  const auto options = parse({"--seconds", "2.5", "--gpus", "3,0-1", "--self-test", "1000",
                              "--hertz", "0.1", "--types", "fp64", "--pattern", "square",
                              "--baseline", "--seed", "7", "--rounds", "9"});

  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->seconds().count(), 2.5);
  EXPECT_EQ(options->gpus(), (std::vector{0, 1, 3}));
  EXPECT_EQ(options->self_tests(), 1000);
  EXPECT_EQ(options->number("--hertz"), 0.1);
  EXPECT_EQ(options->word("--pattern"), "square");
  EXPECT_TRUE(options->flag("--baseline"));
  EXPECT_EQ(options->seed(), 7);
  EXPECT_EQ(options->rounds(), 9);
}

TEST(BurnOptions, ASelfTestAloneIsOne) {
  EXPECT_EQ(parse({"--self-test"})->self_tests(), 1);
  EXPECT_EQ(parse({"--self-test", "--baseline"})->self_tests(), 1);
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
      {"--types", ""},
      {"--types", ","},
      {"--types", "bf16,fp8,bf16"},
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

    ASSERT_FALSE(options) << ::testing::PrintToString(arguments);
    EXPECT_EQ(options.error().code, "usage");
    EXPECT_THAT(options.error().message, ::testing::HasSubstr(std::string{arguments[0]}));
  }
}

TEST(BurnOptions, TheParametersAreAnObject) {
  const auto options = parse({"--gpus", "0,2", "--seed", "18446744073709551615"});

  const auto parameters = parse_json(options->parameters());

  ASSERT_TRUE(parameters);
  EXPECT_EQ(text_at(*parameters, "seed"), "18446744073709551615");
  EXPECT_EQ(text_at(*parameters, "gpus"), "0,2");
  EXPECT_EQ(number_at(*parameters, "hertz"), 1);
}

}  // namespace
}  // namespace cupel::burn
