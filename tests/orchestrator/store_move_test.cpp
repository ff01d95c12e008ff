// A store that is moved to a PostgreSQL server and back: with all that was in it, also where the
// move was killed, and never on top of something else.
#include "orchestrator/store/store_move.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/kept_replies.h"
#include "orchestrator/store/tables.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

constexpr int kEvents = 1200;  // more than two pages of a copy

class MoveTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!on_postgresql()) return;
    place_ = folder_;
    folder_ /= "state";
    fs::remove(place_ / "store.yaml");
    server_ = server_named(schema_);
  }
  void TearDown() override {
    if (!place_.empty()) folder_ = place_;
    StoreTest::TearDown();
  }

  static Server server_named(const std::string& schema) {
    std::vector<inventory::Problem> problems;
    return parse_server(testing::Postgresql::of_this_program().store_file(schema), "store.yaml",
                        "/", problems)
        .value();
  }

  std::string ask(const std::string& statement) {
    return testing::Postgresql::of_this_program().ask(schema_, statement);
  }

  /// In cupel.db, with rows in each table.
  void fill() {
    const auto store = open();
    const auto over = store->begin_run(run_on({"n1"})).value();
    auto measured = event(EventKind::step_ended, "n1", "gemm");
    measured.data["measurements"] =
        json::array{{{"name", "rate"}, {"value", 0.1}, {"unit", "GB/s"}},
                    {{"name", "rate"}, {"value", 1e-300}, {"part", "gpu1"}, {"unit", "GB/s"}}};
    measured.data["evidence"] = store->keep_evidence(kRaw).value();
    ASSERT_TRUE(store->append(over, measured));
    auto ended = event(EventKind::run_ended);
    ASSERT_TRUE(store->append(over, ended));
    const auto run = store->begin_run(run_on({"n2", "N3", "\xc3\xa9"})).value();
    std::vector<Event> batch(kEvents, event(EventKind::step_began, "n2", "it's \"{NULL}\", \\x41"));
    ASSERT_TRUE(store->append(run, batch));
    ASSERT_TRUE(store->keep_snapshot(run, 7, std::string{"st\0te", 5}));
    ASSERT_TRUE(store->ask({.run = run, .kind = engine::Command::Kind::pause, .by = "ada"}));
    store->pin("ssh:n1", "SHA256:one");
    store->keep_known_bmc("n1", {.serial = "S1"});
    fill_the_rest();
  }

  std::string dump() const {
    std::string all;
    soci::session sql;
    open_file_session(sql, folder_ / "cupel.db", Access::read_only);
    for (const auto& table : tables()) {
      std::string columns;
      for (const auto& column : table.columns)
        columns +=
            (columns.empty() ? "quote(" : " || '|' || quote(") + std::string{column.name} + ")";
      const soci::rowset<std::string> rows =
          (sql.prepare << "SELECT " + columns + " FROM " + std::string{table.name} + " ORDER BY 1");
      int count = 0;
      for (const auto& row : rows) {
        all += std::string{table.name} + ": " + row + "\n";
        ++count;
      }
      EXPECT_GT(count, 0) << table.name << " is empty: the test tests nothing of it";
    }
    return all;
  }

  void expect_all_there() {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->evidence(sha256_hex(kRaw)).value(), kRaw);
    EXPECT_EQ(store->snapshot(2).value()->state, (std::string{"st\0te", 5}));
    EXPECT_THAT(store->events_after(2, 0).value(), SizeIs(kEvents));
    const auto found = check_store(folder_).value();
    EXPECT_THAT(found.faults, IsEmpty());
    EXPECT_EQ(found.events, kEvents + 2);
    EXPECT_EQ(found.evidence, 1);
  }

  void expect_usable() {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    auto more = event(EventKind::step_began, "n2", "more");
    EXPECT_TRUE(store->append(2, more)) << "the chain goes on";
    const auto run = store->begin_run(run_on({"n9"}));
    ASSERT_TRUE(run) << run.error().what;
    auto measured = event(EventKind::step_ended, "n9", "stage of its own");
    measured.data["measurements"] =
        json::array{{{"name", "new measure"}, {"value", 1}, {"unit", "1"}}};
    const auto written = store->append(*run, measured);
    EXPECT_TRUE(written) << "new names get new numbers: " << (written ? "" : written.error().what);
    EXPECT_TRUE(store->ask({.run = 2, .kind = engine::Command::Kind::unpause, .by = "ada"}));
    auto log = AuditLog::open(folder_).value();
    EXPECT_TRUE(log.append({.who = "ada", .what = "look"}));
    EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
  }

  /// Moves in a process of its own, which is killed when the move has come to its `step`-th report.
  /// False: it came to its end before.
  bool killed_at(int step, const std::optional<Server>& to) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const auto child = ::fork();
    if (child == 0) {
      int steps = 0;
      const auto moved = move_store(folder_, to, [&](const CopyProgress&) {
        if (++steps < step) return;
        [[maybe_unused]] const auto reported = ::write(pipe[1], "k", 1);
        for (;;) ::pause();
      });
      [[maybe_unused]] const auto reported = ::write(pipe[1], moved ? "d" : "e", 1);
      for (;;) ::pause();
    }
    char reported = '?';
    EXPECT_EQ(::read(pipe[0], &reported, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe[0]);
    ::close(pipe[1]);
    EXPECT_NE(reported, 'e');
    return reported == 'k';
  }

  const std::string kRaw{"raw\0output, raw output, raw output, raw output, raw output", 57};
  fs::path place_{};
  Server server_{};

 private:
  /// What has a row in no store that a test makes by its front doors.
  void fill_the_rest() {
    auto log = AuditLog::open(folder_).value();
    ASSERT_TRUE(log.append({.who = "ada", .origin = "10.0.0.5", .what = "look"}));
    ASSERT_TRUE(log.append({.who = "ada",
                            .origin = "10.0.0.5",
                            .what = "add-token",
                            .data = {{"token", "t"}, {"name", "ci"}, {"role", "viewer"}}}));
    sql_in(folder_,
           "INSERT INTO bmc_refusal VALUES ('n1', 'admin', 'abcdef', '00', 2, 1, 1800000000);"
           "INSERT INTO bmc_budget VALUES ('n1', '{}');"
           "INSERT INTO repair VALUES (1, 5, 'ada', 'b', 0, '', 'ended', 'n8'), (1, 6, 'ada', "
           "'a', 0, '', 'ended', 'n7');"
           "DELETE FROM repair WHERE at = 5;"
           "INSERT INTO pruned VALUES (0, 'p', 1, 2, 0, 'ada');"
           "INSERT INTO access_token VALUES ('t', 'h', 'ci', 'viewer', '*', 0, '', 'ada', 1, 2, 0, "
           "0);"
           "INSERT INTO kept_reply VALUES ('ada', 'k', 'r', 200, '', '{}', 9);"
           "INSERT INTO pending_approval VALUES ('i', 'r', 'ada', '', 1, 2);"
           "INSERT INTO step_secret VALUES (2, 'ticket', 'secret');");
  }
};

TEST_F(MoveTest, GoesToAServerAndBackWithAllThatWasThere) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  const auto before = dump();

  const auto there = move_store(folder_, server_);

  ASSERT_TRUE(there) << there.error().what;
  EXPECT_THAT(there->checked.faults, IsEmpty());
  EXPECT_EQ(there->evidence, 1);
  EXPECT_EQ(there->before, (folder_ / "cupel.db.moved").string());
  EXPECT_FALSE(fs::exists(folder_ / "cupel.db"));
  EXPECT_EQ(server_of(folder_).value(), server_);
  expect_all_there();

  const auto back = move_store(folder_, std::nullopt);

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_THAT(back->checked.faults, IsEmpty());
  EXPECT_FALSE(fs::exists(folder_ / "store.yaml"));
  EXPECT_EQ(dump(), before);
  expect_all_there();
  expect_usable();
}

TEST_F(MoveTest, WhatIsOnTheServerIsWorkedWithAsBefore) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(move_store(folder_, server_));

  expect_usable();

  EXPECT_EQ(ask("SELECT max(id) FROM run"), "3");
  EXPECT_EQ(ask("SELECT string_agg(reason, '' ORDER BY rowid) FROM repair"), "a");
}

TEST_F(MoveTest, NamesEachTableAndColumnThatASchemaHas) {
  CUPEL_OF_A_SERVER_ALONE();
  open();
  soci::session sql;
  open_file_session(sql, folder_ / "cupel.db", Access::read_only);
  std::set<std::string> named, there;
  for (const auto& table : tables())
    for (const auto& column : table.columns)
      if (column.name != "rowid") named.insert(fmt::format("{}.{}", table.name, column.name));

  const soci::rowset<std::string> columns =
      (sql.prepare << "SELECT t.name || '.' || c.name FROM sqlite_master AS t JOIN "
                      "pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name NOT IN "
                      "('schema_version', 'sqlite_sequence')");
  for (const auto& column : columns) there.insert(column);

  EXPECT_EQ(named, there) << "table_copy.cpp copies what it names";
}

TEST_F(MoveTest, ThatWasKilledGoesOnFromWhereItWasToAServer) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  int kills = 0;
  for (const int step : {1, 4, 6, 20, 30, 40}) {
    if (!killed_at(step, server_)) break;
    ++kills;
    const auto refused = Store::open(folder_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr("is being moved"), HasSubstr("--give-up")));
    EXPECT_FALSE(AuditLog::open(folder_));
    EXPECT_EQ(move_store(folder_, std::nullopt).error().code, Code::kConflict) << "elsewhere";
  }
  EXPECT_GE(kills, 5);

  const auto moved = move_store(folder_, server_);

  ASSERT_TRUE(moved) << moved.error().what;
  expect_all_there();
  expect_usable();
}

TEST_F(MoveTest, ThatWasKilledGoesOnFromWhereItWasToTheFolder) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  const auto before = dump();
  ASSERT_TRUE(move_store(folder_, server_));
  int kills = 0;
  for (const int step : {1, 4, 6, 20, 30, 40}) {
    if (!killed_at(step, std::nullopt)) break;
    ++kills;
    EXPECT_EQ(Store::open(folder_).error().code, Code::kConflict);
  }
  EXPECT_GE(kills, 5);

  const auto moved = move_store(folder_, std::nullopt);

  ASSERT_TRUE(moved) << moved.error().what;
  EXPECT_EQ(dump(), before);
  expect_all_there();
}

TEST_F(MoveTest, ThatWasCutOffBetweenTwoNamesIsBroughtToItsEnd) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(move_store(folder_, server_));
  // As before the last rename: both are there.
  fs::rename(folder_ / "cupel.db.moved", folder_ / "cupel.db");
  ASSERT_TRUE(write_file(folder_ / "store.moving", to_yaml(server_)));
  EXPECT_EQ(give_up_move(folder_).error().code, Code::kConflict);

  ASSERT_TRUE(move_store(folder_, server_));

  EXPECT_FALSE(fs::exists(folder_ / "cupel.db"));
  expect_all_there();

  // As behind the copy, before the first name was changed.
  fs::rename(folder_ / "cupel.db.moved", folder_ / "cupel.db");
  fs::remove(folder_ / "store.yaml");
  ASSERT_TRUE(write_file(folder_ / "store.moving", to_yaml(server_)));

  const auto moved = move_store(folder_, server_);

  ASSERT_TRUE(moved) << moved.error().what;
  EXPECT_FALSE(fs::exists(folder_ / "store.moving"));
  expect_all_there();
}

TEST_F(MoveTest, ThatIsGivenUpLeavesTheStoreWhereItWasAndCanBeBegunAgain) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(killed_at(30, server_));

  const auto left = give_up_move(folder_);

  ASSERT_TRUE(left) << left.error().what;
  EXPECT_THAT(*left, HasSubstr("DROP SCHEMA " + schema_ + " CASCADE"));
  {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(store->repin("ssh:n1", "SHA256:two"));
    auto more = event(EventKind::step_began, "n2", "more");
    ASSERT_TRUE(store->append(2, more));
  }
  ASSERT_TRUE(move_store(folder_, server_)) << "what the first one copied is old";
  EXPECT_EQ(open()->pinned("ssh:n1"), "SHA256:two");
  EXPECT_THAT(open()->events_after(2, 0).value(), SizeIs(kEvents + 1));
  EXPECT_EQ(give_up_move(folder_).error().code, Code::kNotFound);
}

TEST_F(MoveTest, IsNotDoneWhereTheCopyIsNotTheSame) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(killed_at(30, server_)) << "all is copied, and compared next";
  ask("UPDATE known_bmc SET serial = 'S2'");

  const auto moved = move_store(folder_, server_);

  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::kMalformed);
  EXPECT_THAT(moved.error().what, HasSubstr("known_bmc (node n1) is not the same"));
  EXPECT_TRUE(fs::exists(folder_ / "cupel.db"));
  EXPECT_FALSE(fs::exists(folder_ / "store.yaml"));
}

TEST_F(MoveTest, TakesNoSchemaThatIsNotEmpty) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  const auto refused = [&](const Server& server) {
    const auto moved = move_store(folder_, server);
    EXPECT_FALSE(moved);
    EXPECT_EQ(moved.error().code, Code::kConflict);
    EXPECT_FALSE(fs::exists(folder_ / "store.moving")) << "nothing was begun";
    return moved ? "" : moved.error().what;
  };
  ask("CREATE SCHEMA " + schema_ + "; CREATE TABLE " + schema_ + ".payroll (id int)");
  EXPECT_THAT(refused(server_), AllOf(HasSubstr("1 tables that Cupel did not make"),
                                      HasSubstr("DROP SCHEMA " + schema_)));
  EXPECT_EQ(ask("SELECT count(*) FROM payroll"), "0");

  const auto other = place_ / "other";
  fs::create_directory(other);
  const auto theirs = name_server_in(other);
  ASSERT_TRUE(Store::open(other));
  EXPECT_THAT(refused(server_named(theirs)), HasSubstr("it belongs to " + other.string()));
  expect_all_there();
}

TEST_F(MoveTest, AStoreThatItCameFromIsNotOverwritten) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(move_store(folder_, server_));
  ASSERT_TRUE(move_store(folder_, std::nullopt));

  const auto again = move_store(folder_, server_);

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_THAT(again.error().what, HasSubstr("from before"));
  expect_all_there();
}

TEST_F(MoveTest, IsRefusedWhileAControllerWorksAndWhereThereIsNothing) {
  CUPEL_OF_A_SERVER_ALONE();
  EXPECT_EQ(move_store(folder_, server_).error().code, Code::kNotFound);
  EXPECT_FALSE(fs::exists(folder_));
  fill();
  EXPECT_EQ(move_store(folder_, std::nullopt).error().code, Code::kConflict) << "it is there";
  const auto controller = ControllerLock::take(folder_).value();

  EXPECT_EQ(move_store(folder_, server_).error().code, Code::kConflict);

  EXPECT_EQ(ask("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema_ + "'"), "0");
}

TEST_F(MoveTest, WhoOpenedTheStoreBeforeItWasMovedWritesNothingThatWouldBeLost) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  auto tokens = AccessTokens::open(folder_).value();
  const auto revoked = [](AccessTokens& by) {
    const auto done = by.revoke("t", time_of(7));
    return done ? std::string{"done"} : done.error().what;
  };
  ASSERT_THAT(tokens.list().value(), SizeIs(1)) << "its connection is at work";
  const auto store = open();

  ASSERT_TRUE(write_file(folder_ / "store.moving", to_yaml(server_)));
  EXPECT_THAT(revoked(tokens), AllOf(HasSubstr("is being moved"), HasSubstr("--give-up")));
  EXPECT_THAT(store->repin("ssh:n1", "SHA256:lost").error().what, HasSubstr("is being moved"));
  ASSERT_TRUE(give_up_move(folder_));
  ASSERT_TRUE(move_store(folder_, server_));

  EXPECT_THAT(revoked(tokens), HasSubstr("was moved while this was at work"));
  auto there = AccessTokens::open(folder_).value();
  ASSERT_TRUE(move_store(folder_, std::nullopt));
  EXPECT_THAT(revoked(there), HasSubstr("was moved while this was at work"));
  auto back = AccessTokens::open(folder_).value();
  EXPECT_EQ(back.list().value().front().revoked, WallTime{});
  EXPECT_EQ(revoked(back), "done");
  EXPECT_EQ(open()->pinned("ssh:n1"), "SHA256:one");
}

TEST_F(MoveTest, IsLookedForInTheStateFolderThoughTheDatabaseIsALinkToAnother) {
  CUPEL_OF_SQLITE_ALONE();
  ASSERT_NE(open(), nullptr);
  const auto linked = folder_ / "linked";
  fs::create_directory(linked);
  fs::create_symlink(folder_ / "cupel.db", linked / "cupel.db");
  auto tokens = AccessTokens::open(linked).value();
  auto replies = KeptReplies::open(linked).value();
  const KeptReply reply{};
  ASSERT_TRUE(tokens.note_use("t", time_of(7)));
  ASSERT_TRUE(replies.keep(reply));

  ASSERT_TRUE(write_file(linked / "store.moving", "sqlite\n"));

  for (const auto& written :
       {tokens.note_use("t", time_of(7)), replies.keep(reply), replies.drop(reply)}) {
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().what, HasSubstr("is being moved"));
  }
}

TEST_F(MoveTest, WhatPostgresqlDoesNotKeepIsNamedAndTheStoreStays) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  ASSERT_TRUE(open()->keep_options(2, std::string{"a\0b", 3}));

  const auto moved = move_store(folder_, server_);

  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::kInvalid);
  EXPECT_THAT(moved.error().what, HasSubstr("run (id 2): its options has a NUL"));
  expect_all_there();
}

TEST_F(MoveTest, ASnapshotThatAnOlderCupelWroteIsPackedOnItsWay) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  sql_in(folder_, "UPDATE snapshot SET state = CAST(x'7374007465' AS TEXT)");

  ASSERT_TRUE(move_store(folder_, server_));

  expect_all_there();
}

TEST_F(MoveTest, DamageMovesAsItIsAndIsNamed) {
  CUPEL_OF_A_SERVER_ALONE();
  fill();
  sql_in(folder_, "UPDATE event SET step = 'other' WHERE run = 2 AND sequence = 17");

  const auto moved = move_store(folder_, server_);

  ASSERT_TRUE(moved) << moved.error().what;
  ASSERT_THAT(moved->checked.faults, SizeIs(1));
  EXPECT_EQ(moved->checked.faults[0].where, "run 2, event 17");
}

}  // namespace
}  // namespace cupel::store
