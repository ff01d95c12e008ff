// `cupel export s3`, as an operator uses it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/json.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/store.h"
#include "tests/support/child.h"
#include "tests/support/fake_bucket.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ArchiveExport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-archive-test-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    write("key", fake.access + ":" + fake.secret + "\n");
    fs::permissions(folder_ / "key", fs::perms::owner_read | fs::perms::owner_write);
    write("ca.pem", server.certificate_pem());
    const auto store = store::Store::open(file("state")).value();
    store::Run run;
    run.playbook = "audit";
    run.nodes = {"n1"};
    const auto id = store->begin_run(run).value();
    const auto hash = store->keep_evidence("what a tool printed").value();
    using engine::EventKind;
    for (auto event :
         {engine::Event{
              EventKind::run_started,
              "",
              "",
              {{"nodes", json::array{json::object{{"name", "n1"}}}}, {"steps", json::array{"os"}}}},
          engine::Event{EventKind::step_began, "n1", "os"},
          engine::Event{
              EventKind::step_ended, "n1", "os", {{"outcome", "done"}, {"evidence", hash}}},
          engine::Event{EventKind::run_ended}})
      ASSERT_TRUE(store->append(id, event));
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }
  std::vector<std::string> words_of(std::vector<std::string> more, const std::string& state) const {
    std::vector<std::string> words{
        CUPEL_BINARY,          "--state",  file(state),   "export",   "s3",        "--endpoint",
        server.url(),          "--bucket", fake.name,     "--region", fake.region, "--key",
        "file:" + file("key"), "--ca",     file("ca.pem")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Ran exported(std::vector<std::string> more = {}, const std::string& state = "state") const {
    return run(words_of(std::move(more), state));
  }

  test::FakeBucket fake{};
  test::ReplayServer server{[this](const test::ReplayRequest& asked) { return fake(asked); }, true};

 private:
  fs::path folder_{};
};

TEST_F(ArchiveExport, CopiesOnceLocksAndCompares) {
  const auto first = exported({"--retain", "365d"});
  const auto second = exported({"--json"});
  const auto checked = exported({"--check"});
  fake.objects.erase("cupel/runs/1/journal-4.ndjson");
  const auto missed = exported({"--check"});

  ASSERT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("bucket evidence at https://127.0.0.1:"),
                               HasSubstr("2 objects were copied, 0 were there; 1 runs are whole\n"),
                               HasSubstr("retention, as the server says: GOVERNANCE until "),
                               HasSubstr(" or later for 2 of 2 objects looked at\n")));
  ASSERT_EQ(second.status, 0) << second.out << second.err;
  const auto report = parse_json(second.out).value();
  EXPECT_EQ(number_at(report, "copied"), 0);
  EXPECT_EQ(number_at(report, "runs"), 1);
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("2 objects have the bytes that the store has; 1 runs are"));
  EXPECT_EQ(missed.status, 1);
  EXPECT_THAT(missed.out, HasSubstr("cupel/runs/1/journal-4.ndjson: it is not in the bucket"));
  EXPECT_TRUE(fake.faults.empty());
}

TEST_F(ArchiveExport, ListsAllThatIsWrongAndAsksNoServer) {
  fs::permissions(file("key"), fs::perms::owner_read | fs::perms::others_read);
  const auto ran = run({CUPEL_BINARY, "--state", file("state"), "export", "s3", "--endpoint",
                        server.url() + "/evidence", "--bucket", "Evidence", "--region", "a b",
                        "--key", "file:" + file("key"), "--prefix", "../x", "--retain", "soon",
                        "--certificate", file("ca.pem")});

  EXPECT_EQ(ran.status, 2);
  for (const auto* option : {"--endpoint: has a host and a port", "--bucket: a name has 3 to 63",
                             "--region: a region is such as", "--key: ", "--prefix: it has at most",
                             "--retain: not a time", "--certificate: "})
    EXPECT_THAT(ran.err, HasSubstr(option));
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("7 errors; nothing was touched"), Not(HasSubstr(fake.secret))));
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(ArchiveExport, RefusesRunsThatAreNotOverAndRecordsOfRehearsals) {
  ASSERT_TRUE(store::keep_for_rehearsals(file("rehearsal")));
  ASSERT_TRUE(store::Store::open(file("rehearsal")));

  const auto unknown = exported({"--run", "7"});
  const auto rehearsed = exported({}, "rehearsal");
  const auto none = exported({}, "none");

  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--run: "));
  EXPECT_EQ(rehearsed.status, 2);
  EXPECT_THAT(rehearsed.err, HasSubstr("nothing of them goes to a bucket"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no store in"));
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(ArchiveExport, EndsAtASignalAndLeavesNoFile) {
  std::promise<void> reached;
  fake.habit = [&, first = true](const test::ReplayRequest&) mutable {
    if (std::exchange(first, false)) reached.set_value();
    return std::optional{test::ReplayAnswer{.silent = true}};
  };
  fs::create_directory(file("tmp"));
  Child child{words_of({}, "state"), {"TMPDIR=" + file("tmp")}};
  ASSERT_EQ(reached.get_future().wait_for(std::chrono::seconds{60}), std::future_status::ready);
  const bool has_scratch = !fs::is_empty(file("tmp"));

  child.signal(SIGINT);
  const auto ran = child.wait();

  EXPECT_EQ(ran.status, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("stopped while the bucket was asked"));
  EXPECT_TRUE(has_scratch);
  EXPECT_TRUE(fs::is_empty(file("tmp")));
}

TEST_F(ArchiveExport, AnObjectWithOtherBytesIsAnErrorThatNamesBothDigests) {
  const auto hash = sha256_hex("what a tool printed");
  const auto key = "cupel/evidence/" + hash.substr(0, 2) + "/" + hash;
  fake.objects[key] = {"of another", {}};

  const auto ran = exported();

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr(sha256_hex("of another") + " there"),
                             HasSubstr(hash + " in the store")));
  EXPECT_EQ(fake.objects[key].body, "of another");
}

}  // namespace
}  // namespace cupel::testing
