// `cupel exec` as an operator types it, against a real sshd.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "tests/e2e/cupel_binary.h"
#include "tests/support/real_part.h"
#include "tests/support/sshd.h"

namespace cupel::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::processes_with;
using testing::Sshd;
using ::testing::UnorderedElementsAre;

class ExecTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (Sshd::installed())
      sshd_ =
          std::make_unique<Sshd>(std::vector<std::string>{"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  }
  static void TearDownTestSuite() { sshd_.reset(); }

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(sshd_, "/usr/sbin/sshd is not installed");
    const auto name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = sshd_->file(name);
    std::filesystem::create_directories(folder_);
    write_inventory(sshd_->access().key_file);
  }

  /// a01-n[01-03] are there; nobody listens at a01-n04's port.
  void write_inventory(const std::string& key) const {
    const auto access = sshd_->access();
    std::ofstream{folder_ / "site.yaml"} << fmt::format(
        "site: lab\n"
        "defaults:\n"
        "  profile: dgx-h100\n"
        "  bmc: {{user: admin, password: 'env:PASSWORD', tls: {{trust: first-use}}}}\n"
        "  ssh: {{user: {}, key: {}}}\n"
        "nodes:\n"
        "  - name: a01-n[01-03]\n"
        "    bmc: {{address: '10.0.1.[11-13]'}}\n"
        "    ssh: {{address: '127.0.0.[1-3]:{}'}}\n"
        "  - name: a01-n04\n"
        "    bmc: {{address: 10.0.1.14}}\n"
        "    ssh: {{address: '127.0.0.4:1'}}\n",
        access.user, key, access.endpoint.port);
  }

  std::vector<std::string> words(std::vector<std::string> more) const {
    std::vector<std::string> all{"--state", (folder_ / "state").string(), "exec", "--inventory",
                                 (folder_ / "site.yaml").string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  ProcessOutcome exec(std::vector<std::string> more, std::string input = {}) const {
    return run_cupel(words(std::move(more)), std::move(input));
  }

  static inline std::unique_ptr<Sshd> sshd_;
  std::filesystem::path folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  for (const auto line : lines(text)) all.emplace_back(line);
  return all;
}

TEST_F(ExecTest, PrintsEachLineBehindItsNode) {
  const auto ran = exec({"a01-n[01-03]", "--", "echo", "a;", "echo", "b", ">&2"});

  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(lines_of(ran.output), UnorderedElementsAre("a01-n01: a", "a01-n02: a", "a01-n03: a"));
  EXPECT_THAT(lines_of(ran.error), UnorderedElementsAre("a01-n01: b", "a01-n02: b", "a01-n03: b"));
}

TEST_F(ExecTest, LeavesWhatStandsBehindTheDashesToTheNode) {
  const auto ran = exec({"a01-n01", "--", "echo", "--json", "-b", "[x]", "bmc", "--help"});

  EXPECT_EQ(ran.output, "a01-n01: --json -b [x] bmc --help\n") << ran.error;
}

TEST_F(ExecTest, GathersEqualOutputs) {
  // $SSH_CONNECTION ends with the address and port that the node was reached at.
  const auto ran = exec({"-b", "a01-n[01-03]", "--",
                         "case $SSH_CONNECTION in *127.0.0.2*) echo odd;; *) echo same;; esac"});

  EXPECT_EQ(ran.output,
            "---------------\na01-n[01,03] (2)\n---------------\nsame\n"
            "---------------\na01-n02\n---------------\nodd\n");
}

TEST_F(ExecTest, TellsFaultsOnceForAllNodesThatHaveThem) {
  const auto ran =
      exec({"all", "--", "case $SSH_CONNECTION in *127.0.0.2*) kill -TERM $$;; *) exit 3;; esac"});

  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(
      lines_of(ran.error),
      ElementsAre("cupel: a01-n[01,03] (2): exited with 3", "cupel: a01-n02: ended by signal TERM",
                  "cupel: a01-n04: SSH: connect to 127.0.0.4:1: Connection refused"));
}

TEST_F(ExecTest, SaysEverythingInJson) {
  const auto ran =
      exec({"--json", "a01-n[01,04]", "--", "printf 'caf\\351\\n'; echo b >&2; exit 4"});

  EXPECT_EQ(ran.exit_status, 1);
  std::vector<json::value> all;
  for (const auto& line : lines_of(ran.output)) all.push_back(parse_json(line).value());
  ASSERT_EQ(all.size(), 5u) << ran.output;
  const json::value out{{"node", "a01-n01"}, {"stream", "out"}, {"line", "caf\xEF\xBF\xBD"}};
  const json::value err{{"node", "a01-n01"}, {"stream", "err"}, {"line", "b"}};
  EXPECT_THAT((std::vector{all[0], all[1]}), UnorderedElementsAre(out, err));
  EXPECT_EQ(all[2], (json::value{{"node", "a01-n01"}, {"exit", 4}}));
  EXPECT_EQ(text_at(all[3], "node"), "a01-n04");
  EXPECT_EQ(text_at(all[3], "code"), "unreachable");
  EXPECT_EQ(json::serialize(all[4]),
            R"({"summary":{"nodes":2,"passed":0,"failed":1,"errors":1,"interrupted":false}})");
}

TEST_F(ExecTest, NeedsLittleMemoryForOutputWithoutLineEnds) {
  constexpr std::size_t kOfEachNode = 150'000'000;
  constexpr std::size_t kMost = 200u << 20;
  // Under AddressSanitizer freed memory stays for a while: 256 MB of it if nothing else is
  // reported.
  const char* options = std::getenv("ASAN_OPTIONS");
  const std::string before = options ? options : "";
  ::setenv("ASAN_OPTIONS",
           (before + ":quarantine_size_mb=8:thread_local_quarantine_size_kb=64").c_str(), 1);
  RunningCupel cupel{words(
      {"a01-n[01-03]", "--", "head -c", std::to_string(kOfEachNode), "/dev/zero | tr '\\0' A"})};
  ::setenv("ASAN_OPTIONS", before.c_str(), 1);

  ASSERT_TRUE(cupel.says_bytes(3 * kOfEachNode));
  const auto memory = cupel.peak_memory();

  EXPECT_GT(memory, 0u) << "it ended before its output was read";
  EXPECT_LT(memory, kMost);
}

TEST_F(ExecTest, MarksThePiecesOfAVeryLongLine) {
  const auto ran = exec({"a01-n01", "--", "head -c 70000 /dev/zero | tr '\\0' A; echo; echo end"});

  EXPECT_THAT(lines_of(ran.output),
              ElementsAre("a01-n01: " + std::string(65536, 'A') + " [the line goes on]",
                          "a01-n01: " + std::string(70000 - 65536, 'A'), "a01-n01: end"));
}

TEST_F(ExecTest, GivesItsInputToEveryNode) {
  const auto ran = exec({"--stdin", "a01-n[01-02]", "--", "cat"}, "one\ntwo\n");

  EXPECT_THAT(lines_of(ran.output),
              UnorderedElementsAre("a01-n01: one", "a01-n01: two", "a01-n02: one", "a01-n02: two"));
}

TEST_F(ExecTest, EndsACommandAtItsTimeLimit) {
  const auto ran = exec({"--timeout", "12s", "a01-n[01-02]", "--", "sleep 30011"});

  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.error, "cupel: a01-n[01-02] (2): ended after 12s, its time limit\n");
  EXPECT_TRUE(processes_with("sleep 30011").empty());
}

TEST_F(ExecTest, RefusesAChangedHostKeyUntilAPersonAcceptsIt) {
  const auto pinned = folder_ / "site.yaml";
  ASSERT_EQ(exec({"a01-n01", "--", "true"}).exit_status, 0);
  const Sshd reinstalled{{"127.0.0.1"}};
  std::ofstream{pinned} << fmt::format(
      "site: lab\nnodes:\n  - name: a01-n01\n    profile: dgx-h100\n"
      "    bmc: {{address: 10.0.1.11, user: admin, password: 'env:PASSWORD'}}\n"
      "    ssh: {{address: '127.0.0.1:{}', user: {}, key: {}}}\n",
      reinstalled.port(), reinstalled.access().user, reinstalled.access().key_file);

  const auto refused = exec({"a01-n01", "--", "true"});
  const auto accepted = exec({"--accept-host-key", "a01-n01"});
  const auto ran = exec({"a01-n01", "--", "true"});

  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.error, HasSubstr("the host key of a01-n01 is SHA256:"));
  EXPECT_THAT(refused.error, HasSubstr("run: cupel exec --accept-host-key a01-n01\n"));
  EXPECT_EQ(accepted.exit_status, 0) << accepted.error;
  EXPECT_THAT(accepted.output, HasSubstr("a01-n01: accepted SHA256:"));
  EXPECT_THAT(accepted.output, HasSubstr("(before: SHA256:"));
  EXPECT_EQ(ran.exit_status, 0) << ran.error;

  const auto forgotten = exec({"--forget-host-key", "a01-n01"});
  const auto none = exec({"--forget-host-key", "a01-n01"});
  EXPECT_THAT(forgotten.output, HasSubstr("a01-n01: no host key is pinned (before: SHA256:"));
  EXPECT_THAT(none.output, HasSubstr("(before: none)"));
}

TEST_F(ExecTest, RefusesAKeyThatOthersMayRead) {
  const auto key = folder_ / "open";
  std::filesystem::copy_file(sshd_->access().key_file, key);
  std::filesystem::permissions(key, std::filesystem::perms{0644});
  write_inventory(key);

  const auto ran = exec({"a01-n01", "--", "true"});

  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.error,
              HasSubstr("is open to others (mode 0644); run: chmod 600 " + key.string()));
}

TEST_F(ExecTest, TakesAKeyOfRootThatAServicesGroupMayRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has such a key";
  const auto key = folder_ / "of-the-service";
  std::filesystem::copy_file(sshd_->access().key_file, key);
  std::filesystem::permissions(key, std::filesystem::perms{0640});
  write_inventory(key);

  const auto ran = exec({"a01-n01", "--", "true"});

  EXPECT_EQ(ran.exit_status, 0) << ran.error;
}

TEST_F(ExecTest, EndsTheRemoteProcessWhenItIsInterrupted) {
  for (const int number : {SIGINT, SIGTERM}) {
    RunningCupel cupel{words({"a01-n01", "--", "echo up; sleep 30021"})};
    ASSERT_TRUE(cupel.says("a01-n01: up"));
    ASSERT_FALSE(processes_with("sleep 30021").empty());

    cupel.signal(number);

    EXPECT_EQ(cupel.wait(), 3);
    EXPECT_TRUE(processes_with("sleep 30021").empty());
  }
}

TEST_F(ExecTest, TouchesNothingWhereTheInputIsWrong) {
  EXPECT_EQ(exec({"a01-n01"}).exit_status, 2);
  EXPECT_EQ(exec({"a01-n99", "--", "true"}).exit_status, 2);
  EXPECT_EQ(exec({"--timeout", "soon", "a01-n01", "--", "true"}).exit_status, 2);
  EXPECT_EQ(exec({"-b", "--json", "a01-n01", "--", "true"}).exit_status, 2);
  EXPECT_EQ(exec({"--accept-host-key", "a01-n01", "--", "true"}).exit_status, 2);
  EXPECT_EQ(exec({"--forget-host-key", "a01-n01", "--", "true"}).exit_status, 2);
}

}  // namespace
}  // namespace cupel::e2e
