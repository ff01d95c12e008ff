// Records of a store in a bucket: what is copied, in which order, what a second copy sends, and
// what is said where the bucket and the store differ.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "orchestrator/archive/copy.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/journal_file.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bucket.h"

/// In place of the C library's: a test does not write into the machine's own log.
extern "C" void syslog(int, const char*, ...) {}

namespace cupel::archive {
namespace {
using namespace std::chrono_literals;
using test::FakeBucket;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kVariable = "CUPEL_TEST_S3_KEY";

class BucketCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv(kVariable, (fake.access + ":" + fake.secret).c_str(), 1);
    store = store::Store::open(folder.path() / "state").value();
    audit({"first", "second"});
  }
  void TearDown() override { ::unsetenv(kVariable); }

  /// A run whose step names this evidence.
  store::RunId make_run(const std::string& evidence, bool ends = true) {
    store::Run run;
    run.playbook = "audit";
    run.nodes = {"n" + std::to_string(++nodes)};
    const auto id = store->begin_run(run).value();
    const auto hash = store->keep_evidence(evidence).value();
    using engine::EventKind;
    add(id, {EventKind::run_started,
             "",
             "",
             {{"nodes", json::array{json::object{{"name", run.nodes[0]}}}},
              {"steps", json::array{"os"}}}});
    add(id, {EventKind::step_began, run.nodes[0], "os"});
    add(id, {EventKind::step_ended, run.nodes[0], "os", {{"outcome", "done"}, {"evidence", hash}}});
    if (ends) add(id, {EventKind::run_ended});
    return id;
  }
  void add(store::RunId run, engine::Event event) { EXPECT_TRUE(store->append(run, event)); }
  void audit(const std::vector<std::string>& whats) {
    auto log = store::AuditLog::open(store->folder()).value();
    for (const auto& what : whats)
      ASSERT_TRUE(log.append(store::AuditEntry{.who = "ada", .what = what}));
  }

  Result<CopyReport> copied(CopyRequest request = {}) {
    request.prefix = "cupel/";
    asio::io_context io{1};
    BucketClient client{{.endpoint = server.url(),
                         .name = fake.name,
                         .region = fake.region,
                         .key = {inventory::SecretRef::Kind::env, kVariable}},
                        {.tries = 3, .first_pause = 1ms, .longest_pause = 20ms}};
    return run_to_end(io, copy_store(*store, client, std::move(request)));
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, object] : fake.objects) all.push_back(key);
    return all;
  }
  static std::string evidence_key(std::string_view bytes) {
    const auto hash = sha256_hex(bytes);
    return "cupel/evidence/" + hash.substr(0, 2) + "/" + hash;
  }
  std::size_t puts() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server.asked(), [](const ReplayRequest& one) { return one.method == "PUT"; }));
  }

  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store{};
  int nodes = 0;
  FakeBucket fake{};
  ReplayServer server{[this](const ReplayRequest& asked) { return fake(asked); }};
};

TEST_F(BucketCopyTest, CopiesEvidenceThenItsJournalThenTheAuditLogAndNothingTwice) {
  make_run("what nvidia-smi printed");
  const auto live = make_run("of a run that goes on", false);

  const auto first = copied();
  const auto second = copied();

  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(first->copied, 3u);
  EXPECT_EQ(first->runs, 1u);
  EXPECT_THAT(first->not_over, ElementsAre(live));
  EXPECT_EQ(first->audit.sequence, 2);
  EXPECT_EQ(first->faults, 0u);
  EXPECT_EQ(second->copied, 0u);
  EXPECT_EQ(second->present, 2u) << "evidence is not asked for where the journal lies";
  EXPECT_EQ(second->runs, 1u);
  EXPECT_EQ(puts(), 3u);
  EXPECT_THAT(keys(), UnorderedElementsAre(evidence_key("what nvidia-smi printed"),
                                           "cupel/runs/1/journal-4.ndjson",
                                           "cupel/audit/000000000001.ndjson"));
  EXPECT_EQ(fake.objects[evidence_key("what nvidia-smi printed")].body, "what nvidia-smi printed");
  EXPECT_THAT(fake.faults, IsEmpty());
  std::vector<std::string> made;
  for (const auto& one : server.asked())
    if (one.method == "PUT") made.push_back(one.path.substr(0, one.path.rfind('/')));
  EXPECT_THAT(made,
              ElementsAre("/evidence/" + evidence_key("what nvidia-smi printed").substr(0, 17),
                          "/evidence/cupel/runs/1", "/evidence/cupel/audit"));
}

TEST_F(BucketCopyTest, TheJournalInTheBucketIsCheckedWithoutTheStore) {
  make_run("x");
  ASSERT_TRUE(copied());
  const auto file = folder.path() / "journal";
  std::ofstream{file} << fake.objects["cupel/runs/1/journal-4.ndjson"].body;

  const auto journal = store::check_journal(file);

  ASSERT_TRUE(journal) << journal.error().what;
  EXPECT_EQ(journal->events, 4);
  EXPECT_EQ(fake.objects["cupel/runs/1/journal-4.ndjson"].heads["x-amz-meta-chain-head"],
            "4:" + journal->head);
}

TEST_F(BucketCopyTest, TheAuditLogGrowsByPiecesThatSayWhereTheyEnd) {
  ASSERT_TRUE(copied());
  audit({"third"});

  const auto report = copied();

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->audit.sequence, 3);
  ASSERT_THAT(keys(),
              ElementsAre("cupel/audit/000000000001.ndjson", "cupel/audit/000000000003.ndjson"));
  auto& first = fake.objects["cupel/audit/000000000001.ndjson"];
  auto& last = fake.objects["cupel/audit/000000000003.ndjson"];
  EXPECT_EQ(first.heads["x-amz-meta-last"], "2");
  EXPECT_EQ(last.heads["x-amz-meta-before"], first.heads["x-amz-meta-chain-head"]);
  EXPECT_EQ(last.heads["x-amz-meta-chain-head"], to_string(report->audit));
  EXPECT_THAT(last.body, AllOf(HasSubstr(R"("what":"third")"), Not(HasSubstr("second"))));
}

TEST_F(BucketCopyTest, SaysThatTheAuditLogIsShorterThanItsCopy) {
  audit({"third"});
  ASSERT_TRUE(copied());
  store = store::Store::open(folder.path() / "other").value();
  audit({"first"});

  const auto report = copied();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kConflict);
  EXPECT_THAT(report.error().what, AllOf(HasSubstr("up to entry 3, and the store's ends at 1"),
                                         HasSubstr("cupel store verify --audit-head 3:")));
}

TEST_F(BucketCopyTest, NamesBothDigestsWhereAnObjectHasOtherBytes) {
  make_run("ours");
  const auto other = sha256_hex("of another");
  for (const auto& heads : {test::Heads{}, test::Heads{{"x-amz-meta-sha256", other}}}) {
    fake.objects[evidence_key("ours")] = {"of another", heads};

    const auto report = copied();

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::kConflict);
    EXPECT_THAT(report.error().what, AllOf(HasSubstr("SHA-256 " + other + " there"),
                                           HasSubstr(sha256_hex("ours") + " in the store")));
  }
  EXPECT_EQ(fake.objects[evidence_key("ours")].body, "of another");
  EXPECT_EQ(puts(), 0u);
}

TEST_F(BucketCopyTest, GoesOnWhereACopyWasBrokenOff) {
  make_run("ours");
  auto done = 0;
  fake.habit = [&](const ReplayRequest& asked) -> std::optional<ReplayAnswer> {
    if (asked.method != "PUT" || ++done == 1) return std::nullopt;
    return test::s3_error(403, "AccessDenied", "Access Denied");
  };
  const auto broken = copied();
  fake.habit = {};

  const auto report = copied();

  EXPECT_FALSE(broken);
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->copied, 2u);
  EXPECT_EQ(report->present, 1u);
}

TEST_F(BucketCopyTest, TakesALostAnswerForWhatTheBucketHas) {
  make_run("ours");
  auto lost = false;
  fake.habit = [&](const ReplayRequest& asked) -> std::optional<ReplayAnswer> {
    if (asked.method != "PUT" || std::exchange(lost, true)) return std::nullopt;
    auto answer = fake(asked);
    answer.cut = true;
    return answer;
  };

  const auto report = copied();

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_TRUE(lost);
  EXPECT_EQ(report->copied + report->present, 3u);
  EXPECT_EQ(report->faults, 0u);
}

TEST_F(BucketCopyTest, ComparesAndWritesNothing) {
  make_run("ours");
  make_run("lost");
  ASSERT_TRUE(copied());
  fake.objects[evidence_key("ours")].body = "changed";
  fake.objects.erase(evidence_key("lost"));
  const auto before = puts();
  audit({"third"});

  const auto report = copied({.compares = true});

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->runs, 0u);
  EXPECT_EQ(report->present, 3u) << "two journals and a piece of the audit log";
  EXPECT_THAT(report->named_faults,
              ElementsAre(AllOf(HasSubstr(evidence_key("ours")), HasSubstr(sha256_hex("changed"))),
                          evidence_key("lost") + ": it is not in the bucket",
                          HasSubstr("the audit log goes on to entry 3")));
  EXPECT_EQ(puts(), before);
}

TEST_F(BucketCopyTest, CopiesAllElseWhereTheStoreHasLostAPiece) {
  make_run("ours");
  make_run("lost");
  make_run("lost");
  ASSERT_TRUE(std::filesystem::remove(store::evidence_file(store->folder(), sha256_hex("lost"))));

  const auto report = copied();

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->runs, 1u);
  EXPECT_THAT(report->named_faults, ElementsAre(HasSubstr("evidence " + sha256_hex("lost")),
                                                HasSubstr("evidence " + sha256_hex("lost"))));
  EXPECT_THAT(keys(), UnorderedElementsAre(evidence_key("ours"), "cupel/runs/1/journal-4.ndjson",
                                           "cupel/audit/000000000001.ndjson"))
      << "what is not whole has no journal there";
}

TEST_F(BucketCopyTest, LocksAsAskedAndSaysWhatTheServerSays) {
  make_run("ours");
  const Retention asked{"COMPLIANCE", "2030-01-02T03:04:05Z"};

  const auto report = copied({.retention = asked});

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->faults, 0u);
  EXPECT_EQ(report->locked, 3u);
  ASSERT_TRUE(report->retention);
  EXPECT_EQ(report->retention->mode, "COMPLIANCE");
  EXPECT_EQ(report->retention->until, "2030-01-02T03:04:05Z");
}

TEST_F(BucketCopyTest, AShorterLockThanAskedIsAFault) {
  make_run("ours");
  fake.retains_until = "2026-12-31T00:00:00.000Z";

  const auto report = copied({.retention = Retention{"GOVERNANCE", "2030-01-02T03:04:05Z"}});

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->runs, 1u) << "all of it lies there";
  EXPECT_EQ(report->faults, 3u);
  EXPECT_THAT(report->named_faults[0],
              HasSubstr("asked was GOVERNANCE until 2030-01-02T03:04:05Z, and the server says "
                        "GOVERNANCE until 2026-12-31T00:00:00.000Z"));
}

TEST_F(BucketCopyTest, ABucketWithoutObjectLockTakesNothingThatIsToBeLocked) {
  fake.has_lock = false;

  const auto report = copied({.retention = Retention{"GOVERNANCE", "2030-01-02T03:04:05Z"}});

  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr("the bucket needs object lock"));
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(BucketCopyTest, NamesCertificatesThatWereIssuedAndAreNotThere) {
  const std::string given = "a certificate", other = "another";
  for (const auto& each : {given, other})
    ASSERT_TRUE(store::note_certificate(store->folder(), sha256_hex(each), {}, {}));

  const auto report = copied({.certificates = {given}});

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(fake.objects["cupel/certificates/" + sha256_hex(given)].body, given);
  EXPECT_THAT(report->certificates, ElementsAre(sha256_hex(other)));
}

}  // namespace
}  // namespace cupel::archive
