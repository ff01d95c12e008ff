// A backup is a state folder of its own, made while the original is written to; nothing that the
// original loses later is lost in it.
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/backup.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/chain_heads.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/prune.h"
#include "orchestrator/store/purpose.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

class BackupTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    place_ = folder_;
    folder_ /= "state";
    if (!on_postgresql()) return;
    fs::remove(place_ / "store.yaml");
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms{0700});
    schema_ = name_server_in(folder_);
  }
  void TearDown() override {
    folder_ = place_;
    StoreTest::TearDown();
  }

  fs::path backup() const { return place_ / "backup"; }

  /// An event that names a piece of evidence.
  static void keep(Store& store, RunId run, const std::string& bytes) {
    auto named = event(EventKind::step_ended, "n1", "disk");
    named.data["evidence"] = store.keep_evidence(bytes).value();
    ASSERT_TRUE(store.append(run, named));
  }

  fs::path place_;
};

TEST_F(BackupTest, IsWholeWhileTheStoreIsOpenAndARunGoesOn) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  keep(*store, run, "first output");

  const auto copied = back_up(folder_, backup()).value();

  EXPECT_EQ(copied.files, 1);
  EXPECT_THAT(copied.checked.faults, IsEmpty());
  EXPECT_EQ(copied.checked.events, 1);
  const auto hash = store->events_after(run, 0).value().back().hash;
  EXPECT_EQ(copied.checked.journals, (std::vector<JournalHead>{{run, 1, hash}}));
  const auto copy = Store::open(backup()).value();
  EXPECT_EQ(copy->evidence(sha256_hex("first output")).value(), "first output");
  EXPECT_EQ(copy->run(run).value().phase, RunPhase::running);
}

TEST_F(BackupTest, CopiesOnlyNewEvidenceAndRemovesNone) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  keep(*store, run, "first output");
  ASSERT_TRUE(back_up(folder_, backup()));
  keep(*store, run, "second output");
  lose_evidence(sha256_hex("first output"));

  const auto copied = back_up(folder_, backup()).value();

  EXPECT_EQ(copied.files, 1);
  EXPECT_THAT(copied.checked.faults, IsEmpty()) << "the state folder has lost it, the backup not";
  EXPECT_EQ(copied.checked.evidence, 2);
}

TEST_F(BackupTest, BringsBackTheNotesOfCertificatesSoThatTheirRunsAreNotPruned) {
  const auto certified = open()->begin_run(run_on({"n1"})).value();
  auto ended = event(EventKind::run_ended);
  ASSERT_TRUE(open()->append(certified, ended));
  const auto tomorrow = std::chrono::system_clock::now() + std::chrono::hours{24};
  ASSERT_TRUE(note_certificate(folder_, std::string(64, 'c'), {certified},
                               std::chrono::floor<std::chrono::milliseconds>(tomorrow)));
  const auto copied = back_up(folder_, backup());
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->files, 0) << "of evidence";
  fs::remove_all(folder_);
  ASSERT_TRUE(restore(backup(), folder_));

  const auto pruned = prune(folder_, {.keep = 0, .by = "ada"});

  ASSERT_TRUE(pruned) << pruned.error().what;
  EXPECT_THAT(pruned->runs, IsEmpty());
  ASSERT_THAT(pruned->held, SizeIs(1));
  EXPECT_EQ(pruned->held[0].first, certified);
}

TEST_F(BackupTest, ComesBackAsItWas) {
  const auto run = open()->begin_run(run_on({"n1"})).value();
  keep(*open(), run, "first output");
  ASSERT_TRUE(back_up(folder_, backup()));
  fs::remove_all(folder_);

  const auto copied = restore(backup(), folder_).value();

  EXPECT_THAT(copied.checked.faults, IsEmpty());
  const auto store = open();
  EXPECT_THAT(store->events(run).value(), SizeIs(1));
  EXPECT_EQ(store->evidence(sha256_hex("first output")).value(), "first output");
  auto more = event(EventKind::run_ended);
  EXPECT_TRUE(store->append(run, more)) << "the chain goes on";
}

TEST_F(BackupTest, NeverOverwritesRecords) {
  open()->begin_run(run_on({"n1"})).value();
  ASSERT_TRUE(back_up(folder_, backup()));

  const auto refused = restore(backup(), folder_);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().what, HasSubstr(on_postgresql() ? "DROP SCHEMA" : "move it aside"));
}

TEST_F(BackupTest, GoesToAServerWhereTheFoldersStoreFileNamesOne) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto run = open()->begin_run(run_on({"n1"})).value();
  keep(*open(), run, "first output");
  const auto console = fs::path{"evidence/console/run-1"};
  fs::create_directories(folder_ / console);
  std::ofstream{folder_ / console / "n1.log"} << "login: ";
  ASSERT_TRUE(back_up(folder_, backup()));
  const auto other = place_ / "other";
  fs::create_directory(other);
  const auto schema = name_server_in(other);
  ASSERT_TRUE(Store::open(other)) << "as cupel doctor does";

  const auto copied = restore(backup(), other);

  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_THAT(copied->checked.faults, IsEmpty());
  EXPECT_EQ(copied->files, 2) << "a piece of evidence, a console";
  auto& server = testing::Postgresql::of_this_program();
  EXPECT_EQ(server.ask(schema, "SELECT count(*) FROM evidence"), "1");
  EXPECT_TRUE(fs::exists(other / console / "n1.log"));
  EXPECT_FALSE(fs::exists(other / "cupel.db.new"));
  const auto store = Store::open(other).value();
  EXPECT_EQ(store->evidence(sha256_hex("first output")).value(), "first output");
  EXPECT_EQ(store->begin_run(run_on({"n2"})).value(), 2);
  EXPECT_EQ(restore(backup(), other).error().code, Code::kConflict);
}

TEST_F(BackupTest, SeesOneStateWhileOthersWrite) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  std::jthread writer{[&](const std::stop_token& stop) {
    const auto other = Store::open(folder_).value();
    while (!stop.stop_requested()) {
      auto each = event(EventKind::step_began, "n1", "disk");
      ASSERT_TRUE(other->append(run, each));
    }
  }};

  for (int i = 0; i < 3; ++i) {
    const auto copied = back_up(folder_, backup());
    ASSERT_TRUE(copied) << copied.error().what;
    EXPECT_THAT(copied->checked.faults, IsEmpty());
  }
}

TEST_F(BackupTest, IsNotRestoredUnderAController) {
  open()->begin_run(run_on({"n1"})).value();
  ASSERT_TRUE(back_up(folder_, backup()));
  const auto other = place_ / "other";
  fs::create_directory(other);
  const auto lock = ControllerLock::take(other).value();

  EXPECT_EQ(restore(backup(), other).error().code, Code::kConflict);
}

TEST_F(BackupTest, RefusesFoldersOfOthersAndFoldersWithinEachOther) {
  open();
  const auto other = place_ / "other";
  fs::create_directory(other);
  std::ofstream{other / "thesis.tex"} << "mine";

  EXPECT_EQ(back_up(folder_, other).error().code, Code::kInvalid);
  EXPECT_EQ(back_up(folder_, folder_ / "backup").error().code, Code::kInvalid);
  EXPECT_EQ(back_up(folder_, folder_).error().code, Code::kInvalid);
  EXPECT_EQ(back_up(place_ / "nothing", backup()).error().code, Code::kNotFound);
  EXPECT_EQ(restore(other, place_ / "new").error().code, Code::kNotFound);
}

TEST_F(BackupTest, IsForItsOwnerAloneAndStaysARehearsals) {
  ASSERT_TRUE(keep_for_rehearsals(folder_));
  const auto run = open()->begin_run(run_on({"n1"})).value();
  keep(*open(), run, "first output");

  ASSERT_TRUE(back_up(folder_, backup()));

  EXPECT_EQ(purpose_of(backup()), Purpose::rehearsal);
  for (const auto& entry : fs::recursive_directory_iterator{backup()})
    if (entry.path().filename() != "REHEARSAL")
      EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
                fs::perms::none)
          << entry.path();
}

TEST_F(BackupTest, NamesWhatIsBrokenInIt) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  keep(*store, run, "first output");
  lose_evidence(sha256_hex("first output"));

  const auto copied = back_up(folder_, backup()).value();

  ASSERT_THAT(copied.checked.faults, SizeIs(1));
  EXPECT_THAT(copied.checked.faults[0].where, HasSubstr(sha256_hex("first output")));
}

/// An intact backup of a run with three events and of two entries of the audit log.
class BackupHeads : public BackupTest {
 protected:
  void SetUp() override {
    BackupTest::SetUp();
    const auto store = open();
    run_ = store->begin_run(run_on({"n1"})).value();
    for (int i = 0; i < 3; ++i) {
      auto step = event(EventKind::step_ended, "n1", "disk");
      ASSERT_TRUE(store->append(run_, step));
    }
    auto log = AuditLog::open(folder_).value();
    for (const auto* what : {"make-token", "revoke-token"})
      ASSERT_TRUE(log.append({.who = "ada", .origin = "host", .what = what}));
    first_ = back_up(folder_, backup()).value();
  }
  std::string heads() const { return read_file(backup() / "heads.json", 10'000).value(); }

  RunId run_ = 0;
  Copied first_{};
};

TEST_F(BackupHeads, AreWrittenWhereTheChainsEndAndMoveOnWithThem) {
  const auto kept = read_heads(backup() / "heads.json").value();
  EXPECT_FALSE(first_.compared);
  EXPECT_EQ(kept, (ChainHeads{first_.checked.audit, first_.checked.journals}));
  EXPECT_EQ(kept.audit.sequence, 2);
  ASSERT_THAT(kept.journals, SizeIs(1));
  EXPECT_EQ(kept.journals[0].events, 3);

  auto more = event(EventKind::run_ended);
  ASSERT_TRUE(open()->append(run_, more));
  const auto second = back_up(folder_, backup()).value();

  EXPECT_TRUE(second.compared);
  EXPECT_THAT(second.checked.faults, IsEmpty());
  EXPECT_EQ(read_heads(backup() / "heads.json").value().journals.at(0).events, 4);
}

TEST_F(BackupHeads, ShowWhatWasCutOffSinceTheEarlierBackupAndStay) {
  const auto before = heads();
  sql("DELETE FROM event WHERE sequence = 3");
  sql("DELETE FROM audit WHERE sequence = 2");
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty()) << "nothing in the store shows it";

  const auto second = back_up(folder_, backup()).value();

  ASSERT_THAT(second.checked.faults, SizeIs(2));
  EXPECT_EQ(second.checked.faults[0].where, "run 1, event 3");
  EXPECT_THAT(second.checked.faults[0].what, HasSubstr("the journal's end was cut off"));
  EXPECT_EQ(second.checked.faults[1].where, "audit log, entry 2");
  EXPECT_EQ(heads(), before);
}

TEST_F(BackupHeads, ShowARunThatWasTakenOutWhole) {
  for (const auto* table : {"event", "run_node", "node_lock", "run"})
    sql(std::string{"DELETE FROM "} + table);
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty()) << "nothing in the store shows it";

  const auto kept = read_heads(backup() / "heads.json").value();
  const auto faults = check_store(folder_, {}, kept).value().faults;

  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].where, "run 1");
  EXPECT_EQ(faults[0].what, "missing, though the hash of its journal was kept");
}

TEST_F(BackupHeads, ShowABackupThatWasChangedWhereItLies) {
  EXPECT_THAT(check_store(backup()).value().faults, IsEmpty());
  sql_in(backup(), "DELETE FROM event WHERE sequence = 3");

  EXPECT_THAT(check_store(backup()).value().faults, SizeIs(1));
  fs::remove_all(folder_);
  const auto restored = restore(backup(), folder_).value();

  EXPECT_TRUE(restored.compared);
  ASSERT_THAT(restored.checked.faults, SizeIs(1));
  EXPECT_EQ(restored.checked.faults[0].where, "run 1, event 3");
}

TEST_F(BackupHeads, ThatCannotBeReadAreNamedBeforeAnythingIsCopied) {
  std::ofstream{backup() / "heads.json"} << "{}";
  const auto elsewhere = place_ / "another";

  const auto again = back_up(folder_, backup());
  const auto restored = restore(backup(), elsewhere);

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kInvalid);
  EXPECT_THAT(again.error().what, HasSubstr("heads.json: 'audit' or 'journals' is absent"));
  EXPECT_EQ(restored.error().code, Code::kInvalid);
  EXPECT_FALSE(fs::exists(elsewhere));
  EXPECT_THAT(check_store(backup()).value().faults, SizeIs(1));
}

TEST(ChainHeadsText, IsReadBackAndNothingElseIs) {
  const ChainHeads heads{{56, std::string(64, 'a')}, {{3, 70, std::string(64, 'b')}}};
  EXPECT_EQ(parse_heads(heads_text(heads)).value(), heads);
  EXPECT_EQ(parse_heads(heads_text({})).value(), ChainHeads{});

  for (const auto* text :
       {"", "x", "[]", "{}", R"({"audit":"56","journals":[]})", R"({"audit":"0:","journals":3})",
        R"({"audit":"0:","journals":[{"run":1,"events":2}]})",
        R"({"audit":"0:","journals":[{"run":-1,"events":2,"head_sha256":"ab"}]})"}) {
    const auto refused = parse_heads(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, Code::kInvalid) << text;
  }
}

TEST_F(BackupTest, WritesThroughNoLinkThatWasPlanted) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  keep(*store, run, "first output");
  ASSERT_TRUE(back_up(folder_, backup()));
  const auto kept = evidence_file(backup(), sha256_hex("first output"));
  fs::remove(kept);
  std::ofstream{place_ / "victim"} << "as it was";
  fs::create_symlink(place_ / "victim", kept.string() + ".new");

  const auto copied = back_up(folder_, backup());

  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(fs::file_size(place_ / "victim"), std::string_view{"as it was"}.size());
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(kept)));
}

TEST_F(BackupTest, TakesNoDrawerThatIsALinkToElsewhere) {
  const auto store = open();
  const auto run = store->begin_run(run_on({"n1"})).value();
  keep(*store, run, "first output");
  fs::create_directories(backup());
  fs::create_directories(place_ / "elsewhere");
  std::ofstream{backup() / "BACKUP"} << "";
  fs::create_directory_symlink(place_ / "elsewhere", backup() / "evidence");

  EXPECT_FALSE(back_up(folder_, backup()));
  EXPECT_TRUE(fs::is_empty(place_ / "elsewhere"));
}

TEST_F(BackupTest, AFolderThatOthersCanWriteIsNeitherWrittenNorRead) {
  ASSERT_TRUE(open()->begin_run(run_on({"n1"})));
  ASSERT_TRUE(back_up(folder_, backup()));
  const auto elsewhere = place_ / "another";
  fs::permissions(backup(), fs::perms{0777});

  const auto written = back_up(folder_, backup());
  const auto read = restore(backup(), elsewhere);

  EXPECT_EQ(written.error().code, Code::kInvalid);
  EXPECT_EQ(read.error().code, Code::kInvalid);
  EXPECT_THAT(read.error().what, HasSubstr("can be changed by other users"));
  EXPECT_FALSE(fs::exists(elsewhere));
}

}  // namespace
}  // namespace cupel::store
