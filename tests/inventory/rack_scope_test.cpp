#include "inventory/rack_scope.h"

#include <gmock/gmock.h>

#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

using ::testing::HasSubstr;

RackScope of(const std::vector<std::string>& racks) { return RackScope::of(racks).value(); }

struct Read {
  RackScope scope{};
  std::vector<Problem> problems{};
};

Read read(const std::string& text) {
  Read read;
  const std::string file = "service.yaml";
  const auto document = parse_yaml(text, file, read.problems);
  YamlFields fields{document->root, "user", file, read.problems};
  (void)fields.text("name");
  read.scope = scope_in(fields, document->root);
  fields.finish();
  return read;
}

TEST(RackScope, NamesThatAreNoneAreRefused) {
  for (const auto& racks : std::vector<std::vector<std::string>>{
           {}, {""}, {" "}, {"a01", ""}, {"*"}, {"a01,a02"}, {"../x"}, {"/"}})
    EXPECT_EQ(RackScope::of(racks).error().code, Code::kInvalid) << ::testing::PrintToString(racks);
}

TEST(RackScope, IsNoRackUntilItSaysSo) {
  const RackScope none;

  EXPECT_FALSE(none.has("a01"));
  EXPECT_FALSE(none.has(""));
  EXPECT_FALSE(none.is_all());
  EXPECT_EQ(RackScope::parse(""), none);
  EXPECT_TRUE(RackScope::all().has("a01"));
  EXPECT_FALSE(of({"a01"}).has(""));
}

TEST(RackScope, CommonRacksOfTwoMayBeNone) {
  const auto one = of({"a01", "a02"}), other = of({"a02", "a03"}), third = of({"a04"});

  EXPECT_EQ(one.common_with(other), of({"a02"}));
  EXPECT_EQ(one.common_with(third), RackScope{});
  EXPECT_EQ(one.common_with(RackScope::all()), one);
  EXPECT_EQ(RackScope::all().common_with(RackScope{}), RackScope{});
}

TEST(RackScope, IncludesWhatItHasAllOf) {
  const auto some = of({"a01", "a02"});

  EXPECT_TRUE(some.includes(of({"a02"})));
  EXPECT_FALSE(some.includes(of({"a02", "a03"})));
  EXPECT_FALSE(some.includes(RackScope::all()));
  EXPECT_TRUE(RackScope::all().includes(some));
}

TEST(RackScope, IsReadBackFromItsText) {
  for (const auto& scope : {RackScope{}, RackScope::all(), of({"a02", "a01"})})
    EXPECT_EQ(RackScope::parse(scope.text()), scope) << scope.text();
  EXPECT_EQ(of({"a02", "a01"}).text(), "a01,a02");
}

TEST(RackScope, OfASettingIsAllOnlyWhereItIsLeftOut) {
  EXPECT_EQ(read("name: x\n").scope, RackScope::all());
  EXPECT_EQ(read("name: x\nracks: [a01]\n").scope, of({"a01"}));
  EXPECT_EQ(read("name: x\nracks: a01\n").scope, of({"a01"}));

  for (const auto* racks : {"[]", "null", "~", "", "''", "' '", "['']", "[a01, '']", "'*'"}) {
    const auto wrong = read(std::string{"name: x\nracks: "} + racks + "\n");
    EXPECT_EQ(wrong.scope, RackScope{}) << racks;
    EXPECT_THAT(to_string(wrong.problems), HasSubstr("service.yaml:2:")) << racks;
  }
}

}  // namespace
}  // namespace cupel::inventory
