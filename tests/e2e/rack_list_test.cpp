// `cupel rack list`: each shipped rack, with what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

using ::testing::HasSubstr;

TEST(RackList, HasEachShippedRackAndWhatItIs) {
  const auto text = run({CUPEL_BINARY, "rack", "list"});
  const auto listed = run({CUPEL_BINARY, "rack", "list", "--json"});

  ASSERT_EQ(text.status, 0) << text.err;
  const auto parsed = parse_json(listed.out);
  ASSERT_TRUE(parsed) << listed.out;
  std::size_t racks = 0;
  for (const auto& file :
       std::filesystem::directory_iterator{std::filesystem::path{SOURCE_DIR} / "rehearsal/racks"}) {
    EXPECT_THAT(text.out, HasSubstr(file.path().stem().string()));
    ++racks;
  }
  const auto& all = parsed->at("racks").as_array();
  EXPECT_EQ(all.size(), racks);
  for (const auto& each : all) {
    EXPECT_TRUE(text_at(each, "description")) << json::serialize(each);
    EXPECT_GT(each.at("nodes").to_number<int>(), 0) << json::serialize(each);
  }
}

}  // namespace
}  // namespace cupel::testing
