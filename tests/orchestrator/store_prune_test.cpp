// Old runs go with all that only they name, and nothing else does.
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/gzip.h"
#include "orchestrator/store/prune.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class PruneTest : public StoreTest {
 protected:
  /// A run on a node of its own that is over, and names these pieces of evidence.
  RunId ended_run(const std::vector<std::string>& evidence = {}) {
    const auto store = open();
    const auto run = begin(*store);
    for (const auto& bytes : evidence) name(*store, run, store->keep_evidence(bytes).value());
    auto end = event(EventKind::run_ended);
    EXPECT_TRUE(store->append(run, end));
    return run;
  }

  RunId begin(Store& store) {
    return store.begin_run(run_on({"n" + std::to_string(++nodes_)})).value();
  }

  static void name(Store& store, RunId run, const std::string& hash) {
    auto named = event(EventKind::step_ended, "n1", "disk");
    named.data["log"] = {{"evidence", hash}};
    ASSERT_TRUE(store.append(run, named));
  }

  Result<Pruned> prune_all(bool dry_run = false) {
    return prune(folder_, {.keep = 0, .by = "ada", .dry_run = dry_run});
  }

  std::vector<RunId> standing() {
    std::vector<RunId> ids;
    for (const auto& run : open()->runs(100).value()) ids.push_back(run.id);
    return ids;
  }

  bool has(const std::string& bytes) { return open()->evidence(sha256_hex(bytes)).has_value(); }

  int nodes_ = 0;
};

TEST_F(PruneTest, RemovesARunWithTheEvidenceThatNoOtherRunNames) {
  ended_run({"of the first alone", "of both"});
  ended_run({"of both"});

  const auto pruned = prune(folder_, {.runs = {1}, .by = "ada"}).value();

  EXPECT_THAT(pruned.runs, ElementsAre(1));
  EXPECT_EQ(pruned.events, 3);
  EXPECT_EQ(pruned.evidence, 1);
  EXPECT_THAT(standing(), ElementsAre(2));
  EXPECT_FALSE(has("of the first alone"));
  EXPECT_TRUE(has("of both"));
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
}

TEST_F(PruneTest, KeepsWhatADocumentOfSeveralNodesNames) {
  const auto store = open();
  const auto run = begin(*store);
  const auto part = store->keep_evidence("one node's output").value();
  const auto shares = store->keep_evidence("{\"n1\":{\"evidence\":\"" + part + "\"}}").value();
  auto together = event(EventKind::step_ended, "n1", "nccl");
  together.data = {{"together", true}, {"evidence", shares}};
  ASSERT_TRUE(store->append(run, together));

  ASSERT_TRUE(prune_all());

  EXPECT_TRUE(has("one node's output"));
}

TEST_F(PruneTest, KeepsTheNewestAndWhatIsYoungEnough) {
  for (int i = 0; i < 4; ++i) ended_run();
  sql("UPDATE run SET ended = 1000 WHERE id < 4");

  EXPECT_THAT(prune(folder_, {.older_than = std::chrono::hours{24 * 90}, .keep = 3}).value().runs,
              ElementsAre(1));
  EXPECT_THAT(prune(folder_, {.older_than = std::chrono::hours{24 * 90}}).value().runs,
              ElementsAre(2, 3));

  EXPECT_THAT(standing(), ElementsAre(4));
}

TEST_F(PruneTest, NeverRemovesARunThatIsNotOver) {
  begin(*open());
  ended_run();

  EXPECT_THAT(prune_all().value().runs, ElementsAre(2));
  const auto refused = prune(folder_, {.runs = {1}});

  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_THAT(refused.error().what, HasSubstr("run 1 is running"));
  EXPECT_EQ(prune(folder_, {.runs = {7}}).error().code, Code::kNotFound);
  EXPECT_EQ(prune(folder_, {}).error().code, Code::kInvalid);
  EXPECT_THAT(standing(), ElementsAre(1));
}

TEST_F(PruneTest, NeverGivesTheNumberOfARemovedRunToAnother) {
  ended_run();
  ended_run();
  ASSERT_TRUE(prune_all());

  EXPECT_EQ(begin(*open()), 3);
}

TEST_F(PruneTest, KeepsPinsAndWhatIsKnownOfBmcs) {
  ended_run();
  open()->pin("ssh:n1", "SHA256:one");
  open()->keep_known_bmc("n1", {.serial = "S1"});

  ASSERT_TRUE(prune_all());

  EXPECT_EQ(open()->pinned("ssh:n1"), "SHA256:one");
  EXPECT_EQ(open()->known_bmc("n1")->serial, "S1");
}

TEST_F(PruneTest, ADryRunSaysTheSameAndChangesNothing) {
  ended_run({"raw output"});

  const auto would = prune_all(true).value();

  EXPECT_THAT(would.runs, ElementsAre(1));
  EXPECT_EQ(would.evidence, 1);
  EXPECT_EQ(would.evidence_bytes, 10);
  EXPECT_TRUE(has("raw output"));
  EXPECT_THAT(standing(), ElementsAre(1));
}

TEST_F(PruneTest, WhatAKilledPruneOrWriteLeftGoesWithTheNext) {
  ended_run({"raw output"});
  ended_run({"named"});
  // Killed behind the transaction: the rows are gone, the file is not.
  for (const auto* table : {"event", "run_node", "run"})
    sql(std::string{"DELETE FROM "} + table +
        (std::string_view{table} == "run" ? " WHERE id = 1" : " WHERE run = 1"));
  const auto hash = sha256_hex("named");
  const auto half = folder_ / "evidence" / hash.substr(0, 2) / (hash + ".new-4711");
  fs::create_directories(half.parent_path());
  std::ofstream{half} << "half";
  const auto console = folder_ / "evidence" / "console" / "run-1";
  fs::create_directories(console);
  std::ofstream{console / "n1.log"} << "login: ";

  const auto pruned = prune(folder_, {.older_than = std::chrono::hours{24}}).value();

  EXPECT_THAT(pruned.runs, IsEmpty());
  EXPECT_EQ(pruned.evidence, 3);
  EXPECT_FALSE(has("raw output"));
  EXPECT_TRUE(has("named"));
  EXPECT_FALSE(fs::exists(half));
  EXPECT_FALSE(fs::exists(console));
}

TEST_F(PruneTest, GivesTheDatabasesRoomBack) {
  CUPEL_OF_SQLITE_ALONE();
  {
    const auto store = open();
    const auto run = begin(*store);
    std::vector<Event> batch(200, event(EventKind::step_began, "n1", "disk"));
    for (auto& each : batch) each.data["filling"] = std::string(4000, 'x');
    ASSERT_TRUE(store->append(run, batch));
    auto end = event(EventKind::run_ended);
    ASSERT_TRUE(store->append(run, end));
  }

  const auto pruned = prune_all().value();

  EXPECT_GT(pruned.database_bytes, 800'000);
  EXPECT_EQ(pruned.not_given_back, "");
  EXPECT_LT(fs::file_size(folder_ / "cupel.db"), 200'000);
}

TEST_F(PruneTest, IsRefusedWhileAControllerLives) {
  ended_run();
  const auto controller = ControllerLock::take(folder_).value();

  EXPECT_EQ(prune_all().error().code, Code::kConflict);

  EXPECT_THAT(standing(), ElementsAre(1));
}

class EvidenceTest : public StoreTest {
 protected:
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator{folder_ / "evidence"})
      if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }
};

TEST_F(EvidenceTest, IsPackedWhereThatIsSmallerAndKeepsItsName) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  const std::string bytes(100'000, 'x');

  const auto hash = store->keep_evidence(bytes).value();

  EXPECT_EQ(hash, sha256_hex(bytes));
  EXPECT_EQ(store->evidence(hash).value(), bytes);
  ASSERT_EQ(files().size(), 1);
  EXPECT_EQ(files()[0].filename(), hash + ".gz");
  EXPECT_LT(fs::file_size(files()[0]), 1000);
  EXPECT_EQ(store->keep_evidence(bytes).value(), hash);
  EXPECT_EQ(files().size(), 1);
}

TEST_F(EvidenceTest, OfAnOlderCupelIsReadAsItLies) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  const std::string bytes(100'000, 'x');
  const auto hash = sha256_hex(bytes);
  fs::create_directories(folder_ / "evidence" / hash.substr(0, 2));
  std::ofstream{folder_ / "evidence" / hash.substr(0, 2) / hash} << bytes;

  EXPECT_EQ(store->evidence(hash).value(), bytes);
  EXPECT_EQ(store->keep_evidence(bytes).value(), hash);

  EXPECT_EQ(files().size(), 1);
  EXPECT_EQ(check_store(folder_).value().evidence, 1);
}

TEST_F(EvidenceTest, ThatWasChangedWhileItWasPackedIsNoticed) {
  CUPEL_OF_SQLITE_ALONE();
  const auto store = open();
  const auto hash = store->keep_evidence(std::string(100'000, 'x')).value();
  const auto file = files()[0];

  for (const auto& bytes : {std::string{"no gzip"}, gzipped("another text"),
                            read_file(file, 1u << 20).value() + "more"}) {
    ASSERT_TRUE(write_file(file, bytes));
    EXPECT_EQ(store->evidence(hash).error().code, Code::kMalformed);
    EXPECT_EQ(check_store(folder_).value().faults.size(), 1);
  }
}

TEST_F(EvidenceTest, IsNeverUnpackedBeyondItsLimit) {
  const auto packed = gzipped(std::string(1'000'000, '\0'));

  EXPECT_EQ(gunzipped(packed, 999'999).error().code, Code::kMalformed);
  EXPECT_EQ(gunzipped(packed, 1'000'000).value().size(), 1'000'000);
}

std::set<unsigned> modes_in(const fs::path& folder, fs::file_type type) {
  std::set<unsigned> modes;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.status().type() == type)
      modes.insert(static_cast<unsigned>(entry.status().permissions()));
  return modes;
}

class ModesTest : public StoreTest {};

TEST_F(ModesTest, AllThatIsKeptIsForItsOwnerAlone) {
  const auto before = ::umask(0);
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run_on({"n1"})));
  ASSERT_TRUE(store->keep_evidence("raw output"));
  ::umask(before);

  ASSERT_TRUE(on_postgresql() || fs::exists(folder_ / "cupel.db-wal"));
  EXPECT_THAT(modes_in(folder_, fs::file_type::regular), ElementsAre(0600u));
  EXPECT_THAT(modes_in(folder_, fs::file_type::directory), ElementsAre(0700u));
}

TEST_F(ModesTest, WhatAnOlderCupelLeftOpenIsClosed) {
  CUPEL_OF_SQLITE_ALONE();
  ASSERT_TRUE(open()->keep_evidence("raw output"));
  fs::permissions(folder_ / "cupel.db", fs::perms{0644});
  for (const auto& entry : fs::recursive_directory_iterator{folder_ / "evidence"})
    if (entry.is_directory()) fs::permissions(entry.path(), fs::perms{0755});
  fs::permissions(folder_ / "evidence", fs::perms{0755});

  const auto store = open();

  EXPECT_THAT(modes_in(folder_, fs::file_type::regular), ElementsAre(0600u));
  EXPECT_THAT(modes_in(folder_, fs::file_type::directory), ElementsAre(0700u));
}

TEST_F(PruneTest, KeepsWhatACertificateRefersToUntilItExpires) {
  const auto certified = ended_run({"a"}), other = ended_run({"b"});
  const auto tomorrow = std::chrono::system_clock::now() + std::chrono::hours{24};
  ASSERT_TRUE(note_certificate(folder_, std::string(64, 'c'), {certified},
                               std::chrono::floor<std::chrono::milliseconds>(tomorrow)));

  const auto by_age = prune_all();
  const auto by_name = prune(folder_, {.runs = {certified}, .by = "ada"});

  ASSERT_TRUE(by_age) << by_age.error().what;
  EXPECT_THAT(by_age->runs, ElementsAre(other));
  ASSERT_EQ(by_age->held.size(), 1u);
  EXPECT_THAT(by_age->held[0].second, HasSubstr("a certificate refers to it"));
  EXPECT_THAT(standing(), ElementsAre(certified));
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
  ASSERT_FALSE(by_name);
  EXPECT_EQ(by_name.error().code, Code::kConflict);

  ASSERT_TRUE(note_certificate(folder_, std::string(64, 'c'), {certified}, WallTime{}));
  EXPECT_THAT(prune_all()->runs, ElementsAre(certified));
}

TEST_F(PruneTest, KeepsTheRunWhoseEvidenceARequalificationKeeps) {
  const auto base = ended_run();
  const auto renewed = ended_run();
  ASSERT_TRUE(
      open()->keep_options(renewed, "{\"requalifies\":{\"of_run\":" + std::to_string(base) + "}}"));

  const auto pruned = prune(folder_, {.keep = 1, .by = "ada"});

  ASSERT_TRUE(pruned) << pruned.error().what;
  EXPECT_THAT(pruned->runs, IsEmpty());
  EXPECT_THAT(standing(), ElementsAre(renewed, base));
}

TEST_F(PruneTest, TakesRunsByTheirVerdict) {
  const auto with_verdict = [&](const char* word) {
    const auto run = ended_run();
    auto verdict = event(EventKind::step_ended, "n1", "verdict");
    verdict.data["verdict"] = word;
    EXPECT_TRUE(open()->append(run, verdict));
    return run;
  };
  const auto good = with_verdict("pass"), bad = with_verdict("fail"), none = ended_run();

  const auto passed = prune(folder_, {.passed = true, .by = "ada", .dry_run = true});
  const auto others = prune(folder_, {.passed = false, .by = "ada", .dry_run = true});

  EXPECT_THAT(passed->runs, ElementsAre(good));
  EXPECT_THAT(others->runs, ElementsAre(bad, none));
}

}  // namespace
}  // namespace cupel::store
