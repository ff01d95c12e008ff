// What can be wrong with a store: said in a sentence that a person can act on, and nothing that
// stands there is overwritten.
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/engine/clock.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/prune.h"
#include "orchestrator/store/run_numbers.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class FaultsTest : public StoreTest {
 protected:
  /// Run 1 on n1, with so many events of so many bytes.
  RunId filled(int events, std::size_t bytes) {
    const auto store = open();
    const auto run = store->begin_run(run_on({"n1"})).value();
    std::vector<Event> batch;
    for (int i = 0; i < events; ++i) {
      batch.push_back(event(EventKind::step_began, "n1", "step " + std::to_string(i)));
      batch.back().data["filling"] = std::string(bytes, 'x');
    }
    EXPECT_TRUE(store->append(run, batch));
    return run;
  }

  /// Overwrites the bytes at `place` in the database's file, as a bad disk does.
  void damage(std::uintmax_t place, const std::string& bytes) {
    std::fstream file{folder_ / "cupel.db", std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>(place));
    file << bytes;
    ASSERT_TRUE(file.good());
  }

  std::string digest() const {
    return sha256_hex(read_file(folder_ / "cupel.db", 64u << 20).value());
  }

  Checked checked() {
    auto found = check_store(folder_);
    EXPECT_TRUE(found) << (found ? "" : found.error().what);
    return found ? *std::move(found) : Checked{};
  }
};

auto at(const std::string& where) { return Field("where", &Fault::where, where); }

TEST_F(FaultsTest, AWholeStoreHasNoFault) {
  filled(20, 100);
  const auto store = open();
  ASSERT_TRUE(store->keep_snapshot(1, 10, "state"));
  const auto hash = store->keep_evidence("raw").value();
  auto named = event(EventKind::step_ended, "n1", "burn");
  named.data["evidence"] = hash;
  ASSERT_TRUE(store->append(1, named));

  const auto found = checked();

  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_EQ(found.runs, 1);
  EXPECT_EQ(found.events, 21);
  EXPECT_EQ(found.snapshots, 1);
  EXPECT_EQ(found.evidence, 1);
}

TEST_F(FaultsTest, ADamagedPageOfASmallStoreIsFoundAtItsOpening) {
  CUPEL_OF_SQLITE_ALONE();
  filled(200, 300);
  const auto pages = fs::file_size(folder_ / "cupel.db") / 4096;
  damage((pages - 2) * 4096, std::string(200, '\xff'));
  const auto before = digest();

  const auto store = Store::open(folder_);

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kStorage);
  EXPECT_THAT(store.error().what,
              AllOf(HasSubstr("malformed"), HasSubstr("left as it is: see cupel store verify")));
  EXPECT_THAT(checked().faults, Contains(at("cupel.db")));
  EXPECT_EQ(digest(), before);
}

TEST_F(FaultsTest, ADamagedPageOfALargeStoreIsFoundByTheCheckAndByWhoeverReadsIt) {
  CUPEL_OF_SQLITE_ALONE();
  const auto run = filled(20'000, 300);
  ASSERT_GT(fs::file_size(folder_ / "cupel.db"), 5u << 20);
  // Some pages, so that one of them is of the table itself.
  damage(fs::file_size(folder_ / "cupel.db") / 4096 / 2 * 4096, std::string(8 * 4096, '\xff'));
  const auto before = digest();

  EXPECT_THAT(checked().faults, Contains(at("cupel.db")));
  const auto read = open()->events_after(run, 0);

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kStorage);
  EXPECT_THAT(read.error().what, HasSubstr("see cupel store verify"));
  EXPECT_EQ(digest(), before);
}

TEST_F(FaultsTest, AFileThatIsNoDatabaseIsLeftAsItIs) {
  CUPEL_OF_SQLITE_ALONE();
  filled(5, 10);
  damage(0, "not what it was.");
  const auto before = digest();

  const auto store = Store::open(folder_);

  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().what, HasSubstr("is not a database"));
  EXPECT_THAT(checked().faults, Contains(at("cupel.db")));
  EXPECT_EQ(digest(), before);
}

TEST_F(FaultsTest, ADatabaseThatIsGoneFromBesideItsWalIsNotMadeAnew) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run_on({"n1"})));
  const auto torn = folder_ / "torn";
  fs::create_directory(torn);
  fs::copy_file(folder_ / "cupel.db-wal", torn / "cupel.db-wal");

  const auto opened = Store::open(torn);

  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr("put the file back"));
  EXPECT_FALSE(fs::exists(torn / "cupel.db"));
  EXPECT_EQ(fs::file_size(torn / "cupel.db-wal"), fs::file_size(folder_ / "cupel.db-wal"));
}

TEST_F(FaultsTest, AChangedEventIsNamedAndNothingIsBuiltOnIt) {
  const auto run = filled(9, 10);
  sql("UPDATE event SET step = 'another' WHERE sequence = 4");

  const auto store = open();
  const auto replayed = store->events_after(run, 0);

  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().what, HasSubstr("the journal of run 1 is damaged at event 4"));
  EXPECT_EQ(store->broken_at(run).value(), std::optional<std::int64_t>{4});
  EXPECT_THAT(checked().faults, Contains(at("run 1, event 4")));
  // A resume from a snapshot behind it does not read it.
  EXPECT_EQ(store->events_after(run, 6).value().size(), 3);
}

TEST_F(FaultsTest, NothingIsAppendedBehindAChangedLastEvent) {
  const auto run = filled(9, 10);
  sql("UPDATE event SET data = '{}' WHERE sequence = 9");

  const auto store = open();
  auto next = event(EventKind::step_began, "n1", "next");
  const auto written = store->append(run, next);

  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().what, HasSubstr("run 1 is damaged at event 9"));
  EXPECT_EQ(store->events(run).value().size(), 9);
}

TEST_F(FaultsTest, AnEventThatIsGoneIsNamed) {
  const auto run = filled(9, 10);
  sql("DELETE FROM event WHERE sequence = 3");

  EXPECT_THAT(open()->events_after(run, 0).error().what, HasSubstr("damaged at event 3"));
  EXPECT_THAT(checked().faults, Contains(at("run 1, event 3")));
}

TEST_F(FaultsTest, AnEventOfAnUnknownKindIsNamedAndIsNoBrokenChain) {
  // Written by a newer Cupel of the same schema: its hash is right.
  const std::string text = "\n1\n1\n5\nnode-levitated\nn1\n\n{}";
  ASSERT_TRUE(open()->begin_run(run_on({"n1"})));
  sql("INSERT INTO event VALUES (1, 1, 5, 'node-levitated', 'n1', '', '{}', '" + sha256_hex(text) +
      "')");

  const auto store = open();
  const auto read = store->events(1);

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kStorage);
  EXPECT_THAT(read.error().what,
              AllOf(HasSubstr("event 1 of run 1"), HasSubstr("'node-levitated'")));
  EXPECT_EQ(store->broken_at(1).value(), std::nullopt);
  EXPECT_THAT(checked().faults, Contains(at("run 1, event 1")));
}

TEST_F(FaultsTest, TwoProcessesThatAppendToOneRunMakeOneChain) {
  const auto run = filled(1, 10);
  const auto one = open();
  const auto other = open();

  for (int i = 0; i < 5; ++i) {
    auto mine = event(EventKind::step_began, "n1", "mine");
    auto theirs = event(EventKind::step_began, "n1", "theirs");
    ASSERT_TRUE(one->append(run, mine));
    ASSERT_TRUE(other->append(run, theirs));
  }

  EXPECT_EQ(one->events_after(run, 0).value().size(), 11);
}

TEST_F(FaultsTest, AReadOnlyFolderIsSaidAndNothingIsTried) {
  CUPEL_OF_SQLITE_ALONE();
  filled(5, 10);
  fs::permissions(folder_, fs::perms{0555});
  fs::permissions(folder_ / "cupel.db", fs::perms{0444});
  int reported[2];
  ASSERT_EQ(::pipe(reported), 0);

  const auto child = ::fork();
  if (child == 0) {
    // Permissions do not bind root: be nobody, where we are root.
    constexpr unsigned kNobody = 65534;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
      ::_exit(1);
    const auto store = Store::open(folder_);
    const std::string output = store ? "opened" : store.error().what;
    [[maybe_unused]] const auto written = ::write(reported[1], output.data(), output.size());
    ::_exit(0);
  }
  ::close(reported[1]);
  std::array<char, 2000> buffer{};
  const auto got = ::read(reported[0], buffer.data(), buffer.size());
  ::waitpid(child, nullptr, 0);
  ::close(reported[0]);
  fs::permissions(folder_, fs::perms{0700});

  const std::string output{buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  EXPECT_THAT(output,
              AllOf(HasSubstr(folder_.string()), HasSubstr("is read-only: nothing was written")));
}

/// One whose hands a test turns.
class TurnedClock final : public engine::Clock {
 public:
  Time now() const override { return {}; }
  WallTime wall() const override { return reported; }
  Task<Result<void>> pause_until(Time) override { co_return ok(); }
  WallTime reported{std::chrono::milliseconds{1'790'000'000'000}};
};

TEST_F(FaultsTest, AClockThatJumpsBothWaysChangesNoOrderAndMakesNoRunEndBeforeItBegan) {
  TurnedClock clock;
  const auto store = open();
  store->tell_time_by(clock);
  const auto run = store->begin_run(run_on({"n1"})).value();
  const auto began = clock.reported;

  for (const auto hours : {0, 24 * 365, -24 * 700, 3}) {
    clock.reported += std::chrono::hours{hours};
    auto each = event(EventKind::step_began, "n1", std::to_string(hours));
    ASSERT_TRUE(store->append(run, each));
  }
  auto end = event(EventKind::run_ended);
  ASSERT_TRUE(store->append(run, end));

  ASSERT_LT(clock.reported, began);
  const auto events = open()->events_after(run, 0).value();
  ASSERT_EQ(events.size(), 5);
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(events[i].sequence, static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(events[1].step, "8760");
  const auto reported = store->run(run).value();
  EXPECT_EQ(reported.began, began);
  EXPECT_EQ(reported.ended, began);
  EXPECT_THAT(checked().faults, IsEmpty());
}

TEST_F(FaultsTest, TheCheckNamesASnapshotAndEvidenceThatAreNotWhatTheyWere) {
  filled(5, 10);
  const auto store = open();
  ASSERT_TRUE(store->keep_snapshot(1, 3, "state"));
  const auto changed = store->keep_evidence("changed").value();
  const auto missing = store->keep_evidence("missing").value();
  auto named = event(EventKind::step_ended, "n1", "burn");
  named.data["evidence"] = missing;
  ASSERT_TRUE(store->append(1, named));

  sql("UPDATE snapshot SET state = 'other'");
  change_evidence(changed);
  lose_evidence(missing);

  const auto found = checked();
  EXPECT_EQ(found.faults.size(), 3);
  EXPECT_THAT(found.faults, Contains(at("run 1, snapshot at event 3")));
  EXPECT_THAT(found.faults, Contains(at("evidence " + changed)));
  EXPECT_THAT(found.faults, Contains(at("evidence " + missing)));
}

TEST_F(FaultsTest, ARunThatIsOverAndWhoseNewestEventsWereCutOffIsNotWhole) {
  const auto run = filled(3, 10);
  {
    const auto store = open();
    std::vector last{event(EventKind::step_ended, "n1", "verdict"), event(EventKind::run_ended)};
    ASSERT_TRUE(store->append(run, last));
    EXPECT_EQ(store->broken_at(run).value(), std::nullopt);
    EXPECT_THAT(checked().faults, IsEmpty());
  }

  sql("DELETE FROM event WHERE sequence > 3");

  EXPECT_EQ(open()->broken_at(run).value(), 4);
  EXPECT_THAT(checked().faults,
              Contains(AllOf(at("run 1, event 4"),
                             Field("what", &Fault::what, HasSubstr("the run is ended")))));
}

TEST_F(FaultsTest, ARunThatWasTakenOutWholeIsMissing) {
  {
    const auto store = open();
    for (const auto* node : {"n1", "n2", "n3"}) {
      const auto run = store->begin_run(run_on({node})).value();
      auto end = event(EventKind::run_ended);
      ASSERT_TRUE(store->append(run, end));
    }
    auto log = AuditLog::open(folder_).value();
    ASSERT_TRUE(log.append({.who = "ada", .what = "start-run-done", .data = {{"run", 3}}}));
  }
  ASSERT_THAT(checked().faults, IsEmpty());
  ASSERT_EQ(checked().journals.size(), 3u);
  EXPECT_EQ(checked().journals.back().run, 3);
  EXPECT_EQ(checked().journals.back().events, 1);

  for (const auto* table : {"event", "run_node"})
    sql("DELETE FROM " + std::string{table} + " WHERE run <> 2");
  sql("DELETE FROM run WHERE id <> 2");

  const auto found = checked();
  EXPECT_EQ(found.faults.size(), 2u);
  EXPECT_THAT(found.faults, Contains(at("run 1")));
  EXPECT_THAT(found.faults, Contains(at("run 3"))) << "the audit log names it";
}

TEST_F(FaultsTest, ARunThatWasPrunedOrIsOfACopyOfOneRunIsNotMissing) {
  {
    const auto store = open();
    ASSERT_TRUE(begin_numbers_at(folder_, 7));
    EXPECT_EQ(store->begin_run(run_on({"n1"})).value(), 7);
    EXPECT_EQ(store->begin_run(run_on({"n2"})).value(), 8);
    EXPECT_EQ(store->begin_run(run_on({"n3"})).value(), 9);
    auto end = event(EventKind::run_ended);
    ASSERT_TRUE(store->append(8, end));
  }
  PruneRequest request;
  request.runs = {8};

  ASSERT_TRUE(prune(folder_, request));

  EXPECT_THAT(checked().faults, IsEmpty());
}

TEST_F(FaultsTest, TheRowOfARunIsHeldAgainstItsFirstEvent) {
  auto of_row = run_on({"n1", "n2"});
  of_row.playbook_text = "steps";
  of_row.inventory_digest = std::string(64, 'a');
  const auto run = open()->begin_run(of_row).value();
  auto started = event(EventKind::run_started);
  started.data["playbook"] = "new-rack";
  started.data["playbook_sha256"] = sha256_hex("steps");
  started.data["inventory_sha256"] = of_row.inventory_digest;
  started.data["nodes"] =
      boost::json::array{boost::json::object{{"name", "n2"}}, boost::json::object{{"name", "n1"}}};
  ASSERT_TRUE(open()->append(run, started));
  const auto found_after = [&](const std::string& change, const std::string& back) {
    sql(change);
    const auto found = checked().faults;
    sql(back);
    EXPECT_THAT(checked().faults, IsEmpty()) << back;
    return found.size() == 1 ? found[0].where + ": " + found[0].what : std::string{};
  };

  EXPECT_THAT(checked().faults, IsEmpty());
  EXPECT_EQ(found_after("UPDATE run SET playbook_text = 'other'",
                        "UPDATE run SET playbook_text = 'steps'"),
            "run 1: its playbook: not what its first event says");
  EXPECT_EQ(
      found_after("UPDATE run SET playbook = 'audit'", "UPDATE run SET playbook = 'new-rack'"),
      "run 1: its playbook: not what its first event says");
  EXPECT_EQ(found_after("UPDATE run SET inventory_digest = 'b'",
                        "UPDATE run SET inventory_digest = '" + of_row.inventory_digest + "'"),
            "run 1: the digest of its inventory: not what its first event says");
  EXPECT_EQ(found_after("DELETE FROM run_node WHERE node = 'n2'",
                        "INSERT INTO run_node (run, place, node) VALUES (1, 1, 'n2')"),
            "run 1: its nodes: not what its first event says");
  EXPECT_EQ(found_after("INSERT INTO run_node (run, place, node) VALUES (1, 2, 'n3')",
                        "DELETE FROM run_node WHERE node = 'n3'"),
            "run 1: its nodes: not what its first event says");
}

TEST_F(FaultsTest, ARunWhoseFirstEventHasNoDigestsIsNotHeldAgainstThem) {
  const auto run = open()->begin_run(run_on({"n1"})).value();
  auto started = event(EventKind::run_started);
  ASSERT_TRUE(open()->append(run, started));
  sql("UPDATE run SET playbook_text = 'other'");

  EXPECT_THAT(checked().faults, IsEmpty());
}

TEST_F(FaultsTest, TheCheckFindsEvidenceThatIsNamedAtAnyDepth) {
  std::string hash;
  {
    const auto store = open();
    const auto run = store->begin_run(run_on({"n1"})).value();
    hash = store->keep_evidence("the kernel's log").value();
    auto ended = event(EventKind::step_ended, "n1", "gemm");
    ended.data["findings"] = boost::json::array{{{"kernel log", {{"evidence", hash}}}}};
    ASSERT_TRUE(store->append(run, ended));
  }
  ASSERT_THAT(checked().faults, IsEmpty());

  lose_evidence(hash);

  EXPECT_THAT(checked().faults, Contains(at("evidence " + hash)));
}

TEST_F(FaultsTest, TheCheckHoldsTheAuditLogAgainstItsChainAndItsKeptEnd) {
  {
    const auto store = open();
    auto log = AuditLog::open(folder_).value();
    for (const auto* what : {"make-token", "start-run", "cancel-run"})
      ASSERT_TRUE(log.append({.who = "ada", .origin = "10.0.0.5", .what = what}));
  }
  const auto head = checked().audit;
  ASSERT_EQ(head.sequence, 3);
  const auto parsed = audit_head_of(to_string(head));
  ASSERT_TRUE(parsed);
  const auto with_head = [&] { return check_store(folder_, *parsed).value().faults; };
  EXPECT_THAT(with_head(), IsEmpty());

  sql("DELETE FROM audit WHERE sequence = 3");
  EXPECT_THAT(checked().faults, IsEmpty()) << "nothing in the store shows it";
  EXPECT_THAT(with_head(), Contains(at("audit log, entry 3")));

  sql("UPDATE audit SET who = 'bob' WHERE sequence = 2");
  EXPECT_THAT(checked().faults, Contains(at("audit log, entry 2")));

  for (const auto* text : {"", "3", "3:abc", "-1:x", ":"}) EXPECT_FALSE(audit_head_of(text));
}

TEST_F(FaultsTest, EvidenceThatWasChangedOnDiskIsKeptAnewAndTheOtherSetAside) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  const auto hash = store->keep_evidence("raw output").value();
  const auto file = folder_ / "evidence" / hash.substr(0, 2) / hash;
  std::ofstream{file} << "damaged";

  EXPECT_EQ(store->keep_evidence("raw output").value(), hash);

  EXPECT_EQ(store->evidence(hash).value(), "raw output");
  EXPECT_EQ(read_file(file.string() + ".damaged", 100).value(), "damaged");
}

TEST_F(FaultsTest, TheCheckNamesANodeThatNobodyWillRelease) {
  const auto run = filled(2, 10);
  auto end = event(EventKind::run_ended);
  ASSERT_TRUE(open()->append(run, end));

  sql("INSERT INTO node_lock VALUES ('n1', 1)");

  EXPECT_THAT(checked().faults, Contains(at("node n1")));
}

TEST_F(FaultsTest, ThereIsNothingToCheckWhereThereIsNoStore) {
  EXPECT_EQ(check_store(folder_ / "elsewhere").error().code, Code::kNotFound);
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace cupel::store
