#include "inventory/select.h"

#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kSite = R"(site: lab
racks: [{name: a01}, {name: a02}]
defaults:
  bmc: {user: admin, password: "env:PASSWORD"}
nodes:
  - {name: "a01-n[01-03]", rack: a01, profile: dgx-h100,
     bmc: {address: "10.0.1.[1-3]"}, ssh: {address: "10.0.2.[1-3]"}}
  - {name: "a02-n[01-02]", rack: a02, profile: a100-8,
     bmc: {address: "10.0.1.[4-5]"}, ssh: {address: "10.0.2.[4-5]"}}
)";

class Select : public ::testing::Test {
 protected:
  std::vector<std::string> names(std::string_view terms) {
    const auto nodes = select(inventory, terms);
    std::vector<std::string> found;
    if (!nodes) return {nodes.error().what};
    for (const auto* node : *nodes) found.push_back(node->name);
    return found;
  }

  Inventory inventory = *parse_inventory(kSite, "site.yaml", "/nowhere").inventory;
};

TEST_F(Select, TakesARangeInTheInventorysOrderAndEachNodeOnce) {
  EXPECT_THAT(names("a02-n01,a01-n[02-03],a01-n03"), ElementsAre("a01-n02", "a01-n03", "a02-n01"));
}

TEST_F(Select, TakesRacksAndProfiles) {
  EXPECT_THAT(names("rack:a02"), ElementsAre("a02-n01", "a02-n02"));
  EXPECT_THAT(names("profile:dgx-h100"), ElementsAre("a01-n01", "a01-n02", "a01-n03"));
}

TEST_F(Select, TakesAwayWhatAnExclamationMarkSays) {
  EXPECT_THAT(names("all,!rack:a01,!a02-n02"), ElementsAre("a02-n01"));
}

TEST_F(Select, NamesEveryTermThatMatchesNothing) {
  const auto told = names("a01-n04,rack:a03");

  ASSERT_EQ(told.size(), 1);
  EXPECT_THAT(told.front(), HasSubstr("a01-n04"));
  EXPECT_THAT(told.front(), HasSubstr("a03"));
}

TEST_F(Select, KnowsNoNodeOfARackThatIsNotVisible) {
  const auto visible = *RackScope::of(std::vector<std::string>{"a02"});
  const auto told = [&](std::string_view terms) {
    const auto nodes = select(inventory, terms, visible);
    return nodes ? nodes->size() == 1 ? nodes->front()->name : std::to_string(nodes->size())
                 : nodes.error().what;
  };

  EXPECT_EQ(told("all"), "2");
  EXPECT_EQ(told("!a02-n01"), "a02-n02");
  EXPECT_EQ(told("a01-n01"),
            "nodes 'a01-n01': there is no node 'a01-n01' (did you mean 'a02-n01'?)");
  EXPECT_EQ(told("a01-n09"),
            "nodes 'a01-n09': there is no node 'a01-n09' (did you mean 'a02-n01'?)");
  EXPECT_EQ(told("rack:a01"), "nodes 'rack:a01': no node is in rack 'a01'");
  EXPECT_EQ(told("profile:dgx-h100"), "nodes 'profile:dgx-h100': no node has profile 'dgx-h100'");
}

}  // namespace
}  // namespace cupel::inventory
