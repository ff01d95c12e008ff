#include "base/json.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(Json, IsBoundedInItsDepth) {
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_EQ(parse_json(nested(65)).error().code, Code::kMalformed);
  EXPECT_EQ(parse_json(nested(1'000'000)).error().code, Code::kMalformed);
}

TEST(Json, IsOneWholeDocument) {
  EXPECT_TRUE(parse_json(" {} \n"));
  EXPECT_TRUE(parse_json("42"));
  for (const char* text : {"", "{", "{} {}", "{\"a\":}", "\"\xE9\""})
    EXPECT_EQ(parse_json(text).error().code, Code::kMalformed) << text;
  EXPECT_THAT(parse_json("[1, x]").error().what, ::testing::HasSubstr("byte"));
}

TEST(Json, WhatIsAbsentOrOfAnotherTypeIsNotThere) {
  const auto root = parse_json(R"({"a":{"text":" x ","none":null,"blank":" ","n":"32","m":1.5}})");
  const auto& value = root.value();

  EXPECT_EQ(text_at(value, "a/text"), "x");
  for (const char* path : {"a/none", "a/blank", "a/m", "a/absent", "a/text/b", "b"})
    EXPECT_EQ(text_at(value, path), std::nullopt) << path;
  EXPECT_EQ(number_at(value, "a/n"), 32);
  EXPECT_EQ(number_at(value, "a/m"), 1.5);
  EXPECT_EQ(number_at(value, "a/text"), std::nullopt);
}

}  // namespace
}  // namespace cupel
