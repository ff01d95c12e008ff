// The reader of JSON for programs on nodes.
#include "burnin/agent/common/json_value.h"

#include <gmock/gmock.h>

namespace cupel::agent {
namespace {

using ::testing::HasSubstr;

TEST(JsonValue, ReadsEveryKindOfValue) {
  const auto read = JsonValue::parse(
      R"( {"a":[1,-2.5e3,true,false,null], "b":"x\n\"\u00e9\ud83d\ude00", "c":{}} )");

  ASSERT_TRUE(read) << read.error().what;
  const auto& array = *read->find("a")->array();
  EXPECT_EQ(array[0].count(), 1u);
  EXPECT_EQ(*array[1].number(), -2500);
  EXPECT_FALSE(array[1].count());
  EXPECT_TRUE(*array[2].boolean());
  EXPECT_FALSE(*array[3].boolean());
  EXPECT_TRUE(array[4].is_null());
  EXPECT_EQ(*read->find("b")->text(), "x\n\"\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_TRUE(read->find("c")->object()->empty());
  EXPECT_EQ(read->find("d"), nullptr);
}

TEST(JsonValue, RefusesWhatIsNoJson) {
  for (const auto* text : {"",
                           "{",
                           "[1,",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "01",
                           "1.",
                           "1e",
                           "-",
                           "+1",
                           "nul",
                           "tru",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "\"\n\"",
                           "1 2",
                           "{\"a\":1,\"a\":2}",
                           "1e999",
                           "NaN"}) {
    const auto read = JsonValue::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::kMalformed);
  }
}

TEST(JsonValue, IsBoundedInDepthAndSize) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(JsonValue::parse(deep).error().what, HasSubstr("nested too deeply"));
  EXPECT_TRUE(JsonValue::parse(std::string(20, '[') + std::string(20, ']')));
  EXPECT_FALSE(JsonValue::parse("\"" + std::string(JsonValue::kMostBytes, 'x') + "\""));
}

}  // namespace
}  // namespace cupel::agent
