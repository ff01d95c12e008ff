// Which runs `cupel actions` looks at where none is named: the built cupel on a journal of several.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/json.h"
#include "orchestrator/store/store.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

using engine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ActionsOfRuns : public ::testing::Test {
 protected:
  ActionsOfRuns() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-hands-XXXXXX").string();
    folder = ::mkdtemp(made.data());
    store = *std::move(store::Store::open(folder));
  }
  ~ActionsOfRuns() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  void add(engine::RunId run, engine::Event event) const { ASSERT_TRUE(store->append(run, event)); }
  /// One that is over, of one node with one step.
  void ended_run(const std::string& node, const std::string& outcome) const {
    store::Run run;
    run.playbook = "boot";
    run.nodes = {node};
    const auto id = store->begin_run(run).value();
    add(id, {EventKind::run_started,
             "",
             "",
             {{"nodes", {{{"name", node}, {"rack", "a01"}, {"unit", 1}}}},
              {"steps", json::array{"power-on"}}}});
    add(id, {EventKind::step_began, node, "power-on"});
    add(id, {EventKind::step_ended,
             node,
             "power-on",
             {{"outcome", outcome},
              {"hands", json::array{json::object{{"action", "plug in " + node}}}}}});
    add(id, {EventKind::run_ended});
  }
  Ran hands(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{CUPEL_BINARY, "--state", folder.string(), "actions"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  std::filesystem::path folder;
  std::unique_ptr<store::Store> store;
};

TEST_F(ActionsOfRuns, AreThoseOfTheNewestRunOfEachNode) {
  ended_run("n1", "needs operator");
  ended_run("n2", "done");

  const auto all = hands(), second = hands({"2"});

  EXPECT_EQ(all.status, 1) << all.err;
  EXPECT_THAT(all.out, HasSubstr("plug in n1"));
  EXPECT_EQ(second.status, 0) << second.out;
}

TEST_F(ActionsOfRuns, AreOverWhereANewerRunWorkedOnTheNode) {
  ended_run("n1", "needs operator");
  ended_run("n1", "done");

  const auto all = hands(), first = hands({"1"});

  EXPECT_EQ(all.status, 0) << all.out;
  EXPECT_THAT(first.out, HasSubstr("plug in n1"));
}

TEST_F(ActionsOfRuns, NameTheirRunWhereThereAreSeveral) {
  ended_run("n1", "needs operator");
  ended_run("n2", "needs operator");

  const auto one = hands({"1"}), both = hands();

  EXPECT_THAT(both.out, AllOf(HasSubstr("run 1: power-on"), HasSubstr("run 2: power-on")));
  EXPECT_THAT(one.out, Not(HasSubstr("run 1: ")));
}

TEST_F(ActionsOfRuns, AreADocumentWithAVersionInJson) {
  ended_run("n1", "needs operator");

  const auto reported = parse_json(hands({"--json"}).out);

  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->at("schema"), 2);
  EXPECT_EQ(reported->at("actions").at(0).at("action"), "plug in n1; then: cupel retry 1 n1");
}

}  // namespace
}  // namespace cupel::testing
