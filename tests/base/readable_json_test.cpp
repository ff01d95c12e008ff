#include "base/readable_json.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/json.h"

namespace cupel {
namespace {

TEST(ReadableJson, LeavesWhatCanBeReadAsItIs) {
  const json::object object{{"text", "caf\xC3\xA9\n"}, {"number", 2.5}, {"list", {1, nullptr}}};
  auto same = object;

  make_readable(same);

  EXPECT_EQ(same, object);
}

TEST(ReadableJson, MarksBytesThatAreNoUtf8InTextsAndKeys) {
  json::object object{{"a\xFF", {{"b", {"c\xFE", "d"}}}}};

  make_readable(object);

  EXPECT_EQ(object, (json::object{{"a\uFFFD", {{"b", {"c\uFFFD", "d"}}}}}));
  EXPECT_TRUE(parse_json(json::serialize(object)));
}

TEST(ReadableJson, HasNoNumberThatJsonDoesNotKnow) {
  json::object object{{"nan", std::numeric_limits<double>::quiet_NaN()},
                      {"inf", std::numeric_limits<double>::infinity()}};

  make_readable(object);

  EXPECT_EQ(object, (json::object{{"nan", nullptr}, {"inf", nullptr}}));
}

TEST(ReadableJson, IsNeverDeeperThanWhatIsRead) {
  json::value deep = 1;
  for (int i = 0; i < 200; ++i) deep = json::object{{"in", std::move(deep)}};
  auto object = std::move(deep).as_object();

  make_readable(object);

  EXPECT_TRUE(parse_json(json::serialize(object)));
}

}  // namespace
}  // namespace cupel
