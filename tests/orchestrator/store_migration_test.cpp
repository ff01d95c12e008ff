// Stores of older and newer Cupels. The older ones are made here by the statements that those
// versions ran, written out again on purpose: a migration that was edited after it was shipped
// would otherwise agree with itself.
#include <map>

#include "base/digest.h"
#include "base/file.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kVersion1 = R"(
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (1);
  CREATE TABLE run (id INTEGER PRIMARY KEY, playbook TEXT NOT NULL, playbook_file TEXT NOT NULL,
    playbook_text TEXT NOT NULL, inventory_file TEXT NOT NULL, inventory_digest TEXT NOT NULL,
    phase TEXT NOT NULL, cancel INTEGER NOT NULL, began BIGINT NOT NULL, ended BIGINT NOT NULL);
  CREATE TABLE run_node (run INTEGER NOT NULL, place INTEGER NOT NULL, node TEXT NOT NULL,
    PRIMARY KEY (run, place));
  CREATE INDEX run_node_by_node ON run_node (node, run);
  CREATE TABLE event (run INTEGER NOT NULL, sequence BIGINT NOT NULL, time BIGINT NOT NULL,
    kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, data TEXT NOT NULL,
    hash TEXT NOT NULL, PRIMARY KEY (run, sequence));
  CREATE INDEX event_by_node ON event (run, node, sequence);
  CREATE TABLE node_lock (node TEXT PRIMARY KEY, run INTEGER NOT NULL);
  CREATE TABLE known_key (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, since BIGINT NOT NULL);
)";

constexpr const char* kVersion2 = R"(
  CREATE TABLE bmc_refusal (node TEXT NOT NULL, login TEXT NOT NULL, mark TEXT NOT NULL,
    salt TEXT NOT NULL, times INTEGER NOT NULL, believed INTEGER NOT NULL, last BIGINT NOT NULL,
    PRIMARY KEY (node, login));
  CREATE TABLE known_bmc (node TEXT PRIMARY KEY, serial TEXT NOT NULL, uuid TEXT NOT NULL,
    service_uuid TEXT NOT NULL, macs TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
    since BIGINT NOT NULL);
  CREATE TABLE bmc_budget (node TEXT PRIMARY KEY, data TEXT NOT NULL);
  UPDATE schema_version SET version = 2;
  INSERT INTO known_bmc VALUES ('n1', 'S1', 'u', 's', 'aa:bb:cc:00:11:22', '10.0.1.9', 443, 5);
  INSERT INTO bmc_refusal VALUES ('n1', 'admin', 'abcdef', '00', 2, 1, 1800000000);
)";

constexpr const char* kVersion3 = R"(
  CREATE TABLE command (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL,
    kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, reason TEXT NOT NULL,
    asked_by TEXT NOT NULL, at BIGINT NOT NULL);
  CREATE INDEX command_by_run ON command (run, id);
  CREATE TABLE snapshot (run INTEGER NOT NULL, sequence BIGINT NOT NULL,
    event_hash TEXT NOT NULL, state TEXT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (run, sequence));
  UPDATE schema_version SET version = 3;
  INSERT INTO command VALUES (7, 4, 'pause', '', '', 'lunch', 'ada', 1790000000000);
)";

/// Run 4 on n1 and n2, with one event, interrupted; a pin.
std::string rows_of_version1() {
  const std::string text = "\n4\n1\n1790000000000\nrun-started\n\n\n{\"playbook\":\"new-rack\"}";
  return "INSERT INTO run VALUES (4, 'new-rack', 'f', 't', 'i', 'd', 'interrupted', 0, "
         "1790000000000, 0);"
         "INSERT INTO run_node VALUES (4, 0, 'n1'), (4, 1, 'n2');"
         "INSERT INTO node_lock VALUES ('n1', 4), ('n2', 4);"
         "INSERT INTO known_key VALUES ('ssh:n1', 'SHA256:one', 1);"
         "INSERT INTO event VALUES (4, 1, 1790000000000, 'run-started', '', '', "
         "'{\"playbook\":\"new-rack\"}', '" +
         sha256_hex(text) + "');";
}

class MigrationTest : public StoreTest {
 protected:
  void expect_rows_of_version1(Store& store) {
    EXPECT_EQ(store.run(4).value().playbook, "new-rack");
    EXPECT_EQ(store.run(4).value().phase, RunPhase::interrupted);
    EXPECT_THAT(store.run(4).value().nodes, ElementsAre("n1", "n2"));
    EXPECT_EQ(store.begin_run(run_on({"n2"})).error().code, Code::kConflict);
    EXPECT_EQ(store.pinned("ssh:n1"), "SHA256:one");
    EXPECT_EQ(store.events_after(4, 0).value().size(), 1);
  }

  /// What every version can do once it was opened.
  void expect_as_good_as_new(Store& store) {
    auto resumed = event(EventKind::run_resumed);
    ASSERT_TRUE(store.append(4, resumed));
    EXPECT_EQ(store.broken_at(4).value(), std::nullopt);
    EXPECT_TRUE(store.ask({.run = 4, .kind = engine::Command::Kind::pause}));
    EXPECT_TRUE(store.keep_snapshot(4, 2, "state"));
    store.keep_known_bmc("n3", {.serial = "S3"});
    EXPECT_EQ(store.known_bmc("n3")->serial, "S3");
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_})
      if (entry.is_regular_file())
        all[entry.path().string()] = sha256_hex(read_file(entry.path(), 64u << 20).value());
    return all;
  }
};

TEST_F(MigrationTest, OpensAStoreOfVersion1WithAllThatIsInIt) {
  CUPEL_OF_SQLITE_ALONE();
  sql(kVersion1 + rows_of_version1());

  const auto store = open();

  ASSERT_NE(store, nullptr);
  expect_rows_of_version1(*store);
  expect_as_good_as_new(*store);
}

TEST_F(MigrationTest, OpensAStoreOfVersion2WithAllThatIsInIt) {
  CUPEL_OF_SQLITE_ALONE();
  sql(kVersion1 + rows_of_version1() + kVersion2);

  const auto store = open();

  ASSERT_NE(store, nullptr);
  expect_rows_of_version1(*store);
  EXPECT_EQ(store->known_bmc("n1")->serial, "S1");
  EXPECT_EQ(store->refusal("n1", "admin")->times, 2);
  expect_as_good_as_new(*store);
}

TEST_F(MigrationTest, OpensAStoreOfVersion3WithAllThatIsInIt) {
  CUPEL_OF_SQLITE_ALONE();
  sql(kVersion1 + rows_of_version1() + kVersion2 + kVersion3);

  const auto store = open();

  ASSERT_NE(store, nullptr);
  expect_rows_of_version1(*store);
  EXPECT_EQ(store->run(4).value().options, "");
  ASSERT_EQ(store->commands(4, 0).value().size(), 1);
  EXPECT_EQ(store->commands(4, 0).value()[0].text, "lunch");
  expect_as_good_as_new(*store);
}

TEST_F(MigrationTest, AMigrationThatFailsLeavesTheOlderStoreAsItWas) {
  CUPEL_OF_SQLITE_ALONE();
  // A table in the way of the last migration's: its earlier statements must be undone with it.
  sql(kVersion1 + rows_of_version1() + "CREATE TABLE snapshot (x)");

  ASSERT_FALSE(Store::open(folder_));

  sql("DROP TABLE snapshot");
  const auto store = open();
  ASSERT_NE(store, nullptr);
  expect_rows_of_version1(*store);
}

TEST_F(MigrationTest, LeavesAStoreOfANewerCupelAsItIsByteForByte) {
  ASSERT_NE(open(), nullptr);
  sql("UPDATE schema_version SET version = 99");
  const auto before = files();

  const auto store = Store::open(folder_);

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kUnsupported);
  EXPECT_THAT(store.error().what, HasSubstr("install the newer one"));
  EXPECT_EQ(files(), before);
}

TEST_F(MigrationTest, LeavesWhatANewerCupelHasYetToCheckpointAsItIs) {
  CUPEL_OF_SQLITE_ALONE();
  // Killed in mid-work: the last words are in the WAL alone, and closing must not carry them over.
  sqlite3* newer = nullptr;
  ASSERT_NE(open(), nullptr);
  ASSERT_EQ(sqlite3_open((folder_ / "cupel.db").c_str(), &newer), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(newer, "UPDATE schema_version SET version = 99", nullptr, nullptr, nullptr),
      SQLITE_OK);
  const auto killed = folder_ / "killed";
  std::filesystem::create_directory(killed);
  for (const auto* name : {"cupel.db", "cupel.db-wal"})
    std::filesystem::copy_file(folder_ / name, killed / name);
  sqlite3_close(newer);
  const auto digest_of = [&](const char* name) {
    return sha256_hex(read_file(killed / name, 64u << 20).value());
  };
  const auto database = digest_of("cupel.db");
  const auto wal = digest_of("cupel.db-wal");

  const auto store = Store::open(killed);

  EXPECT_EQ(store.error().code, Code::kUnsupported);
  EXPECT_EQ(digest_of("cupel.db"), database);
  EXPECT_EQ(digest_of("cupel.db-wal"), wal);
}

}  // namespace
}  // namespace cupel::store
