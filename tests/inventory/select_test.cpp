#include "inventory/select.h"

#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
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
groups:
  - {name: canary, nodes: "a01-n01,a02-n01"}
  - {name: rest, nodes: "!@canary"}
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

TEST_F(Select, OfNodesWithoutARackTakesNoneForATermWithoutAName) {
  for (auto& node : inventory.nodes) node.rack.clear();

  for (const auto* term : {"rack:", "rack: ", "profile:", "all,!rack:"})
    EXPECT_THAT(names(term).front(), HasSubstr("names no")) << term;
}

TEST_F(Select, TakesAwayWhatAnExclamationMarkSays) {
  EXPECT_THAT(names("all,!rack:a01,!a02-n02"), ElementsAre("a02-n01"));
}

TEST_F(Select, TakesGroups) {
  EXPECT_THAT(names("@canary"), ElementsAre("a01-n01", "a02-n01"));
  EXPECT_THAT(names("@rest,!rack:a02"), ElementsAre("a01-n02", "a01-n03"));
  EXPECT_THAT(names("@canari").front(), HasSubstr("no group 'canari' (did you mean 'canary'?)"));
}

TEST_F(Select, KnowsNoGroupThatHasNoVisibleNode) {
  inventory.groups["of-a01"] = {"a01-n01", "a01-n02"};
  const auto visible = *RackScope::of(std::vector<std::string>{"a02"});

  const auto hidden = select(inventory, "@of-a01", visible);
  const auto seen = select(inventory, "@canary", visible);

  ASSERT_FALSE(hidden);
  EXPECT_THAT(hidden.error().what, HasSubstr("there is no group 'of-a01'"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->size(), 1u);
}

TEST_F(Select, TakesNodesByWhatTheyHadInARun) {
  const NodesOfRun of_run = [](std::string_view verdict,
                               std::int64_t run) -> Result<std::vector<std::string>> {
    if (run != 12) return Error{Code::kNotFound, "there is no run"};
    if (verdict == "failed") return std::vector<std::string>{"a01-n02", "a02-n02"};
    if (verdict == "passed") return std::vector<std::string>{"gone"};
    return std::vector<std::string>{};
  };
  const auto asked = [&](std::string_view terms, const RackScope& visible = RackScope::all()) {
    const auto nodes = select(inventory, terms, visible, of_run);
    if (!nodes) return nodes.error().what;
    std::string all;
    for (const auto* node : *nodes) all += node->name + " ";
    return all;
  };
  const auto a02 = *RackScope::of(std::vector<std::string>{"a02"});

  EXPECT_EQ(asked("failed:12"), "a01-n02 a02-n02 ");
  EXPECT_EQ(asked("rack:a02,!failed:12"), "a02-n01 ");
  EXPECT_EQ(asked("failed:12", a02), "a02-n02 ");
  EXPECT_THAT(asked("passed:12"), HasSubstr("there is no node 'gone'"));
  EXPECT_THAT(asked("passed:12", a02), HasSubstr("no node of run 12 has passed"));
  EXPECT_THAT(asked("inconclusive:12"), HasSubstr("no node of run 12 is inconclusive"));
  EXPECT_THAT(asked("failed:13,failed:x"),
              AllOf(HasSubstr("there is no run"), HasSubstr("'x' is no number of a run")));
  EXPECT_THAT(names("failed:12").front(), HasSubstr("not asked for here"));
}

TEST(Groups, AreReadWithAllTheirErrors) {
  auto text = std::string{kSite};
  text +=
      "  - {name: \"my group\", nodes: all}\n  - {name: canary, nodes: a01-n09}\n"
      "  - {name: of-run, nodes: \"failed:3\"}\n  - {nodes: all, node: x}\n";

  const auto problems = to_string(parse_inventory(text, "site.yaml", "/nowhere").problems);

  EXPECT_THAT(
      problems,
      AllOf(HasSubstr("group name 'my group' may have letters"),
            HasSubstr("group 'canary' is there already"), HasSubstr("there is no node 'a01-n09'"),
            HasSubstr("not asked for here"), HasSubstr("name"), HasSubstr("node")));
}

TEST_F(Select, NamesEveryTermThatMatchesNothing) {
  const auto reported = names("a01-n04,rack:a03");

  ASSERT_EQ(reported.size(), 1);
  EXPECT_THAT(reported.front(), HasSubstr("a01-n04"));
  EXPECT_THAT(reported.front(), HasSubstr("a03"));
}

TEST_F(Select, SaysHowARangeIsWrittenWhereBothItsEndsAreNodes) {
  EXPECT_THAT(names("a01-n01-a01-n03"),
              ElementsAre("nodes 'a01-n01-a01-n03': there is no node 'a01-n01-a01-n03' (a range is "
                          "written a01-n[01-03])"));
  EXPECT_THAT(names("a01-n01-a02-n02").front(), ::testing::Not(HasSubstr("a range is written")));
}

TEST_F(Select, KnowsNoNodeOfARackThatIsNotVisible) {
  const auto visible = *RackScope::of(std::vector<std::string>{"a02"});
  const auto reported = [&](std::string_view terms) {
    const auto nodes = select(inventory, terms, visible);
    return nodes ? nodes->size() == 1 ? nodes->front()->name : std::to_string(nodes->size())
                 : nodes.error().what;
  };

  EXPECT_EQ(reported("all"), "2");
  EXPECT_EQ(reported("!a02-n01"), "a02-n02");
  EXPECT_EQ(reported("a01-n01"),
            "nodes 'a01-n01': there is no node 'a01-n01' (did you mean 'a02-n01'?)");
  EXPECT_EQ(reported("a01-n09"),
            "nodes 'a01-n09': there is no node 'a01-n09' (did you mean 'a02-n01'?)");
  EXPECT_EQ(reported("rack:a01"), "nodes 'rack:a01': no node is in rack 'a01'");
  EXPECT_EQ(reported("rack:"), "nodes 'rack:': 'rack:' names no rack");
  EXPECT_EQ(reported("profile:dgx-h100"),
            "nodes 'profile:dgx-h100': no node has profile 'dgx-h100'");
}

}  // namespace
}  // namespace cupel::inventory
