// `cupel store`, as a person and as a script calls it.
#include "orchestrator/store/store.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "orchestrator/store/check.h"
#include "tests/e2e/cupel_binary.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

class StoreCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cupel-check-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A run with a piece of evidence; its file.
  std::filesystem::path keep_something() {
    const auto store = store::Store::open(folder_).value();
    const auto run = store->begin_run({.playbook = "new-rack", .nodes = {"n1"}}).value();
    const auto hash = store->keep_evidence("raw output").value();
    engine::Event event;
    event.kind = engine::EventKind::step_ended;
    event.data["evidence"] = hash;
    EXPECT_TRUE(store->append(run, event));
    return folder_ / "evidence" / hash.substr(0, 2) / hash;
  }

  ProcessOutcome check(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--state", folder_.string(), "store", "verify"};
    words.insert(words.end(), more.begin(), more.end());
    return run_cupel(std::move(words));
  }

  std::filesystem::path folder_;
};

TEST_F(StoreCheckTest, SaysThatAllIsWhole) {
  keep_something();

  const auto ran = check();

  EXPECT_EQ(ran.exit_status, 0) << ran.error;
  EXPECT_EQ(
      ran.output,
      folder_.string() +
          ": 1 runs, 1 events, 0 snapshots, 1 pieces of evidence, 0 entries of the audit log: "
          "whole\nnot checked: " +
          store::kNotChecked + "\n");
}

TEST_F(StoreCheckTest, SaysWhatIsBrokenWhereAndWhatToDo) {
  const auto file = keep_something();
  std::ofstream{file} << "something else";

  const auto ran = check();

  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("evidence " + file.filename().string()),
                                HasSubstr("-> put it back"), HasSubstr("1 broken")));
  const auto json = parse_json(check({"--json"}).output).value();
  ASSERT_EQ(json.at("faults").as_array().size(), 1);
  EXPECT_THAT(text_at(json, "store").value_or(""), folder_.string());
  EXPECT_EQ(text_at(json.at("faults").as_array()[0], "where"),
            "evidence " + file.filename().string());
}

TEST_F(StoreCheckTest, LooksIntoAStoreThatNoOtherCommandOpens) {
  keep_something();
  std::ofstream{folder_ / "cupel.db", std::ios::in | std::ios::out} << "not what it was.";

  const auto other = run_cupel({"--state", folder_.string(), "status"});
  const auto ran = check();

  EXPECT_EQ(other.exit_status, 3);
  EXPECT_THAT(other.error, HasSubstr("see cupel store verify"));
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, HasSubstr("cupel.db: "));
}

TEST_F(StoreCheckTest, MakesNoStoreWhereThereIsNone) {
  folder_ /= "elsewhere";

  const auto ran = check();

  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.error, HasSubstr("there is no store in"));
  EXPECT_FALSE(std::filesystem::exists(folder_));
  folder_ = folder_.parent_path();
}

TEST_F(StoreCheckTest, IsNoRepair) {
  keep_something();

  EXPECT_EQ(check({"--repair"}).exit_status, 2);
  EXPECT_THAT(run_cupel({"completion", "bash"}).output, HasSubstr("'cupel store verify'"));
}

/// Run 1 holds n1 and n2, and an event of it is not what was written.
class StoreRepairTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    const auto store = open();
    ASSERT_TRUE(store->begin_run(run_on({"n1", "n2"})));
    auto began = event(engine::EventKind::run_started);
    ASSERT_TRUE(store->append(1, began));
    sql("UPDATE event SET data = '{'");
  }

  ProcessOutcome cupel(std::vector<std::string> words) {
    words.insert(words.begin(), {"--state", folder_.string()});
    return run_cupel(std::move(words));
  }
};

TEST_F(StoreRepairTest, EveryCommandThatTheDamageStopsNamesTheRepair) {
  for (const auto* command : {"cancel", "report"}) {
    const auto ran = cupel({command, "1"});
    EXPECT_NE(ran.exit_status, 0);
    EXPECT_THAT(ran.error, HasSubstr("cupel store repair 1")) << command;
  }
  const auto status = cupel({"status"});
  EXPECT_EQ(status.exit_status, 3);
  EXPECT_THAT(status.output, HasSubstr("cupel store repair 1"));
}

TEST_F(StoreRepairTest, FreesTheNodesAndSaysWhatItDid) {
  const auto would = cupel({"store", "repair", "1", "--dry-run"});
  EXPECT_EQ(would.exit_status, 0);
  EXPECT_THAT(would.output, AllOf(HasSubstr("n[1-2] would be free"), HasSubstr("nothing was")));
  EXPECT_EQ(cupel({"store", "verify"}).exit_status, 1);

  const auto done = cupel({"store", "repair", "1", "--reason", "disk was swapped"});

  EXPECT_EQ(done.exit_status, 0) << done.error;
  EXPECT_THAT(done.output, AllOf(HasSubstr("damaged at event 1"), HasSubstr("n[1-2] are free")));
  const auto checked = cupel({"store", "verify"});
  EXPECT_EQ(checked.exit_status, 0);
  EXPECT_THAT(checked.output, HasSubstr("(disk was swapped)"));
  const auto status = cupel({"status"});
  EXPECT_EQ(status.exit_status, 0);
  EXPECT_THAT(status.output, AllOf(HasSubstr("cancelled"), HasSubstr("repaired")));
  EXPECT_EQ(cupel({"store", "repair", "1"}).exit_status, 2);
  EXPECT_TRUE(open()->begin_run(run_on({"n1", "n2"})));
}

TEST_F(StoreRepairTest, AsksForTheRunsNumber) {
  EXPECT_EQ(cupel({"store", "repair"}).exit_status, 2);
  EXPECT_EQ(cupel({"store", "repair", "9"}).exit_status, 2);
}

class StoreMigrateTest : public store::StoreTest {
 protected:
  void TearDown() override {
    if (!moved_to_.empty()) testing::Postgresql::of_this_program().drop(moved_to_);
    StoreTest::TearDown();
  }

  ProcessOutcome cupel(std::vector<std::string> words) {
    words.insert(words.begin(), {"--state", folder_.string()});
    return run_cupel(std::move(words));
  }

  /// A schema that is not there yet.
  std::string server_url() {
    auto& server = testing::Postgresql::of_this_program();
    moved_to_ = server.new_schema();
    return "postgresql:///postgres?host=" + server.socket().parent_path().string() +
           "&port=" + std::to_string(server.port()) + "&schema=" + moved_to_;
  }

  std::string moved_to_{};
};

TEST_F(StoreMigrateTest, MovesAStoreToAServerAndBack) {
  CUPEL_NEEDS_REAL_PART(testing::Postgresql::is_installed(), "there is no PostgreSQL server");
  ASSERT_TRUE(open()->begin_run(run_on({"n1"})));
  const auto url = server_url();

  const auto there = cupel({"store", "migrate", "--to", url});

  EXPECT_EQ(there.exit_status, 0) << there.error;
  EXPECT_THAT(there.output, AllOf(HasSubstr("found the same"), HasSubstr("cupel.db.moved")));
  EXPECT_THAT(there.error, HasSubstr("run: 1 of"));
  EXPECT_THAT(cupel({"status"}).output, HasSubstr("new-rack"));
  EXPECT_THAT(cupel({"doctor"}).output, HasSubstr("schema " + moved_to_ + " of postgres"));
  const auto again = cupel({"store", "migrate", "--to", url});
  EXPECT_EQ(again.exit_status, 2);
  EXPECT_THAT(again.error, HasSubstr("on a server already"));
  const auto back = cupel({"store", "migrate", "--to", "sqlite", "--json"});
  EXPECT_EQ(back.exit_status, 0) << back.error;
  const auto json = parse_json(back.output).value();
  EXPECT_EQ(json.at("runs").as_int64(), 1);
  EXPECT_EQ(text_at(json, "kept").value_or(""), (folder_ / "store.yaml.moved").string());
  EXPECT_THAT(cupel({"status"}).output, HasSubstr("new-rack"));
}

TEST_F(StoreMigrateTest, SaysWhatIsWrongAndTouchesNothing) {
  ASSERT_TRUE(open()->begin_run(run_on({"n1"})));
  for (const auto& [words, output] :
       {std::pair{std::vector<std::string>{}, "name --to, or --give-up"},
        {{"--to", "mysql://db/x"}, "postgresql://USER@HOST/DATABASE"},
        {{"--to", "postgresql://ada:hunter2@db/x"}, "seen by every user"},
        {{"--to", "sqlite"}, "in its folder already"},
        {{"--to", "sqlite", "--give-up"}, "--give-up"},
        {{"--give-up"}, "no move of"}}) {
    std::vector<std::string> line{"store", "migrate"};
    line.insert(line.end(), words.begin(), words.end());

    const auto ran = cupel(line);

    EXPECT_EQ(ran.exit_status, 2);
    EXPECT_THAT(ran.error, AllOf(HasSubstr(output), ::testing::Not(HasSubstr("hunter2"))));
  }
  EXPECT_TRUE(open()->run(1));
  const auto served = cupel({"serve", "--store", "postgresql:///x?host=/run/postgresql"});
  EXPECT_EQ(served.exit_status, 2);
  EXPECT_THAT(served.error, HasSubstr("has a store already"));
}

}  // namespace
}  // namespace cupel::e2e
