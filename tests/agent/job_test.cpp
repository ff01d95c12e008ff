// The real cupel-node and the jobs that it looks after: what they said, how they end, and that
// nothing of them outlives them.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "tests/support/captures.h"
#include "tests/support/real_part.h"
#include "tests/support/sshd.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using cupel::testing::processes_of_job;
using cupel::testing::processes_with;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Ran {
  int status = 0;
  std::string out;
};

/// A command line under way; its standard error comes with its output.
class Running {
 public:
  explicit Running(const std::string& words)
      : stream_{::popen(("exec " NODE_BINARY " " + words + " 2>&1").c_str(), "re")} {}

  Ran end() {
    Ran ran;
    char piece[65536];
    while (const auto got = std::fread(piece, 1, sizeof piece, stream_)) ran.out.append(piece, got);
    const int status = ::pclose(stream_);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran;
  }

 private:
  FILE* stream_;
};

Ran node(const std::string& words) { return Running{words}.end(); }

json::object first_line(const Ran& ran) {
  boost::system::error_code failure;
  const auto value = json::parse(ran.out.substr(0, ran.out.find('\n')), failure);
  return value.is_object() ? value.get_object() : json::object{};
}

class NodeJob : public ::testing::Test {
 protected:
  Ran start(const std::string& script, const std::string& options = "--limit 60") {
    return node("start job --folder " + folder + " " + options + " -- sh -c " +
                shell_quoted(script));
  }

  /// Reads on until it has ended, or has said `enough`; `state` is the last that was reported.
  std::string tail(const std::string& enough = {}) {
    std::string output;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (std::chrono::steady_clock::now() < end) {
      const auto ran =
          node("tail --folder " + folder + " --wait 20 --from " + std::to_string(output.size()));
      const auto header = first_line(ran);
      if (!header.contains("out_bytes")) break;
      const auto bytes = static_cast<std::size_t>(header.at("out_bytes").as_int64());
      output += ran.out.substr(ran.out.find('\n') + 1, bytes);
      last = header;
      if (!enough.empty() && output.contains(enough)) break;
      if (header.at("state") != "running" && bytes == 0) break;
    }
    return output;
  }
  std::string state() const {
    return last.contains("state") ? last.at("state").as_string().c_str() : "";
  }
  std::int64_t exit_status() const { return last.at("exit").as_int64(); }
  pid_t read_pid(const std::string& name) const {
    pid_t pid = 0;
    std::ifstream{folder + "/" + name} >> pid;
    return pid;
  }
  void TearDown() override { node("stop --folder " + folder); }

  test::TemporaryFolder base{};
  std::string folder = (base.path() / "jobs" / "one").string();
  json::object last{};
};

/// Waits for an event: that the process has gone.
/// What a job's commands left running. cupel-node itself, whose command line names them too, may
/// still be on its way out; what is gone meanwhile is not left.
std::vector<pid_t> strays(const std::string& words) {
  std::vector<pid_t> found;
  for (const auto pid : processes_with(words)) {
    std::error_code gone;
    const auto program =
        std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
    if (!gone && program != std::filesystem::path{NODE_BINARY}) found.push_back(pid);
  }
  return found;
}

bool ends(pid_t pid) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return errno == ESRCH;
  pollfd waiting{process, POLLIN, 0};
  const bool ended = ::poll(&waiting, 1, 30'000) == 1;
  ::close(process);
  return ended;
}

pid_t parent_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string number, name, state;
  pid_t parent = 0;
  stat >> number >> name >> state >> parent;
  return parent;
}

TEST_F(NodeJob, IsUnknownUntilItIsStarted) {
  tail();

  EXPECT_EQ(state(), "unknown");
}

TEST_F(NodeJob, SpoolsBothStreamsAndTheExitStatus) {
  start("echo to out; echo to err >&2; exit 5");

  const auto output = tail();

  EXPECT_EQ(output, "to out\n");
  EXPECT_EQ(state(), "ended");
  EXPECT_EQ(exit_status(), 5);
  const auto both = node("tail --folder " + folder + " --from 3 --errors-from 3");
  EXPECT_EQ(both.out.substr(both.out.find('\n') + 1), "out\nerr\n");
}

TEST_F(NodeJob, IsReadOnFromAnyOffsetWhateverItSays) {
  std::string bytes(300'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 3);
  std::ofstream{base.path() / "bytes", std::ios::binary} << bytes;
  start("for i in 1 2 3 4 5; do cat " + (base.path() / "bytes").string() + "; done");

  const auto output = tail();
  const auto piece = node("tail --folder " + folder + " --from 123457 --most 1000");

  std::string expected;
  for (int i = 0; i < 5; ++i) expected += bytes;
  EXPECT_TRUE(output == expected) << output.size();
  EXPECT_TRUE(piece.out.substr(piece.out.find('\n') + 1) == expected.substr(123457, 1000));
}

TEST_F(NodeJob, ASecondStartChangesNothing) {
  EXPECT_TRUE(first_line(start("echo first")).at("started").as_bool());
  tail();

  const auto again = start("echo second");

  EXPECT_EQ(again.status, 0);
  EXPECT_FALSE(first_line(again).at("started").as_bool());
  EXPECT_EQ(tail(), "first\n");
}

TEST_F(NodeJob, OfTwoStartsAtOnceOneStartsIt) {
  for (int round = 0; round < 5; ++round) {
    folder = (base.path() / "jobs" / std::to_string(round)).string();
    const auto words = "start job --folder " + folder + " --limit 60 -- echo once";
    std::vector<Running> both;
    for (int i = 0; i < 4; ++i) both.emplace_back(words);

    int started = 0;
    for (auto& each : both) {
      const auto ran = each.end();
      EXPECT_EQ(ran.status, 0) << ran.out;
      started += ran.out.contains("\"started\":true") ? 1 : 0;
    }

    EXPECT_EQ(started, 1);
    EXPECT_EQ(tail(), "once\n");
  }
}

TEST_F(NodeJob, RunsInASessionOfItsOwnWithNothingOnItsInput) {
  start("cat; ps -o sid= -p $$; echo $$; pwd; echo $CUPEL_JOB; command -v cupel-node");

  const auto text = tail();

  const auto output = lines(text);
  ASSERT_EQ(output.size(), 5u) << text;
  EXPECT_EQ(trimmed(output[0]), output[1]);
  EXPECT_EQ(output[2], folder + "/work");
  EXPECT_EQ(output[3], folder);
  EXPECT_EQ(output[4], NODE_BINARY);
}

TEST_F(NodeJob, ReadsTheInputThatCameWithIt) {
  const auto input = (base.path() / "input").string();
  std::ofstream{input} << "a script";
  const auto begin = "start job --folder " + folder + " --limit 60 --input-bytes ";

  const auto half = node(begin + "9 -- cat < " + input);
  const auto early = fs::exists(folder + "/started");
  const auto whole = node(begin + "8 -- cat < " + input);

  EXPECT_EQ(half.status, 74);
  EXPECT_THAT(half.out, HasSubstr("standard input ended after 8 of 9 bytes: nothing was started"));
  EXPECT_FALSE(early);
  EXPECT_EQ(whole.status, 0) << whole.out;
  EXPECT_EQ(tail(), "a script");
}

TEST_F(NodeJob, IsGivenAWordAndForgottenOnceItHasEnded) {
  start("until [ -s \"$CUPEL_JOB/word\" ]; do sleep 0.1; done; cat \"$CUPEL_JOB/word\"");
  const auto word = (base.path() / "word").string();
  std::ofstream{word} << "go on\n";

  const auto early = node("forget --folder " + folder);
  node("tell --folder " + folder + " < " + word);
  const auto output = tail();
  const auto forgotten = node("forget --folder " + folder);
  const auto late = node("tell --folder " + folder + " < " + word);

  EXPECT_EQ(early.status, 75) << "it runs";
  EXPECT_EQ(output, "go on\n");
  EXPECT_EQ(forgotten.status, 0) << forgotten.out;
  EXPECT_EQ(late.status, 0) << "a job that has gone needs no word";
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(NodeJob, LiesWhereALinkOfOurOwnLeadsTo) {
  const auto elsewhere = base.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::permissions(elsewhere, fs::perms::owner_all);
  fs::create_directory_symlink(elsewhere, base.path() / "link");
  folder = (base.path() / "link" / "jobs" / "one").string();

  start("pwd");

  EXPECT_EQ(tail(), (elsewhere / "jobs" / "one" / "work").string() + "\n");
}

TEST_F(NodeJob, OfACommandThatIsNotThereSaysSo) {
  node("start job --folder " + folder + " --limit 60 -- no-such-command");

  tail();

  EXPECT_EQ(exit_status(), 127);
  const auto err = node("tail --folder " + folder).out;
  EXPECT_THAT(err, HasSubstr("no-such-command: No such file or directory"));
}

TEST_F(NodeJob, HasAControlGroupOfItsOwnWhereThatIsAllowed) {
  start("cat /proc/$$/cgroup; echo up; sleep 67001");

  const auto output = tail("up\n");

  // Version 1 alone, or a tree that may only be read, has none.
  const bool may = std::system(
                       "d=$(findmnt -nro TARGET -t cgroup2 | tail -n 1) && [ -n \"$d\" ] && "
                       "d=$d$(sed -n 's/^0:://p' /proc/self/cgroup)/cupel-test-$$ && "
                       "mkdir \"$d\" 2> /dev/null && rmdir \"$d\"") == 0;
  std::ifstream file{folder + "/cgroup"};
  std::string control_group;
  file >> control_group;
  EXPECT_EQ(!control_group.empty(), may);
  if (control_group.empty()) return;
  const auto name = control_group.substr(control_group.rfind('/'));
  EXPECT_THAT(output, HasSubstr(name + "\n"));
  node("stop --folder " + folder);
  EXPECT_FALSE(fs::exists(control_group)) << "it was left behind";
}

TEST_F(NodeJob, LeavesNothingRunningWhenItEnds) {
  start("setsid sleep 51001 & (setsid sh -c 'sleep 51002 & sleep 51003' &) ; echo up");

  tail();

  EXPECT_EQ(state(), "ended");
  EXPECT_EQ(exit_status(), 0);
  EXPECT_THAT(processes_of_job(folder), IsEmpty());
  EXPECT_THAT(strays("sleep 5100"), IsEmpty());
}

TEST_F(NodeJob, ThatIsStoppedEndsWithItsGrandchildrenAndHasNoResult) {
  // Neither a session of its own nor a cleared environment gets away.
  start("setsid sleep 52001 & setsid env -i setsid sleep 52002 & echo up; sleep 52003");
  tail("up\n");

  const auto stopped = node("stop --folder " + folder);

  EXPECT_EQ(stopped.status, 0) << stopped.out;
  EXPECT_THAT(strays("sleep 5200"), IsEmpty());
  tail();
  EXPECT_EQ(state(), "stopped");
  EXPECT_EQ(node("stop --folder " + folder).status, 0) << "a second time";
}

TEST_F(NodeJob, WithoutAControlGroupLeavesNothingRunningEither) {
  // A machine of its own kind: no control groups are mounted there.
  const std::string apart = "unshare -m sh -c 'umount -R /sys/fs/cgroup; ";
  const bool possible = std::system((apart + "true' 2> /dev/null").c_str()) == 0;
  CUPEL_NEEDS_REAL_PART(possible, "no mount namespace of its own: only root may make one");
  const auto begin = [&] {
    return std::system((apart + "exec " NODE_BINARY " start job --limit 60 --folder " + folder +
                        " -- sh -c \"setsid env -i setsid sleep 63001 & (setsid env -i sleep 63002 "
                        "&) ; echo up; sleep 63003\"' > /dev/null")
                           .c_str());
  };
  ASSERT_EQ(begin(), 0);
  tail("up\n");
  EXPECT_FALSE(fs::exists(folder + "/cgroup"));

  node("stop --folder " + folder);

  EXPECT_THAT(strays("sleep 6300"), IsEmpty());
  folder += "-again";
  ASSERT_EQ(begin(), 0);
  tail("up\n");
  const auto guard = parent_of(read_pid("keeper"));
  ::kill(read_pid("keeper"), SIGKILL);
  EXPECT_TRUE(ends(guard));
  EXPECT_THAT(strays("sleep 6300"), IsEmpty());
}

TEST_F(NodeJob, ThatIsStoppedMayCleanUp) {
  start("trap 'echo cleaned; exit 4' TERM; echo up; sleep 53001 & wait");
  tail("up\n");

  node("stop --folder " + folder);

  EXPECT_EQ(tail(), "up\ncleaned\n");
  EXPECT_EQ(exit_status(), 4);
}

TEST_F(NodeJob, ThatIgnoresTermIsStoppedAllTheSame) {
  start("trap '' TERM; echo up; while :; do sleep 0.5; done");
  tail("up\n");

  EXPECT_EQ(node("stop --folder " + folder).status, 0);

  EXPECT_THAT(processes_of_job(folder), IsEmpty());
}

TEST_F(NodeJob, EndsAtItsLimitWithoutAReader) {
  start("setsid sleep 54001 & sleep 54002", "--limit 1");
  const auto keeper = read_pid("keeper");

  EXPECT_TRUE(ends(keeper));

  EXPECT_THAT(strays("sleep 5400"), IsEmpty());
  tail();
  EXPECT_EQ(state(), "ended");
  EXPECT_EQ(exit_status(), 124);
  EXPECT_TRUE(last.at("over_limit").as_bool());
}

TEST_F(NodeJob, EndsWhenItHasFilledItsSpool) {
  start("cat /dev/zero", "--limit 60 --spool-limit 1000000");

  EXPECT_EQ(tail().size(), 1'000'000u);

  EXPECT_EQ(fs::file_size(folder + "/out"), 1'000'000u);
  EXPECT_TRUE(last.at("over_spool").as_bool());
  EXPECT_NE(exit_status(), 0);
  EXPECT_THAT(node("tail --folder " + folder + " --from 1000000").out,
              HasSubstr("more than its spool may hold"));
}

TEST_F(NodeJob, WhoseSupervisorWasKilledIsLostAndNothingOfItRuns) {
  start("setsid sleep 55001 & setsid env -i setsid sleep 55002 & echo up; sleep 55003");
  tail("up\n");
  const auto guard = parent_of(read_pid("keeper"));
  const auto doomed = processes_with("sleep 5500");
  ASSERT_FALSE(doomed.empty());

  ::kill(read_pid("keeper"), SIGKILL);

  // By the guard alone: nobody has asked yet.
  EXPECT_TRUE(ends(guard));
  EXPECT_THAT(strays("sleep 5500"), IsEmpty());
  tail();
  EXPECT_EQ(state(), "lost");
}

TEST_F(NodeJob, IsLostWhereItsGuardWasKilledAndTheNextReaderEndsTheRest) {
  start("setsid sleep 56001 & echo up; sleep 56002");
  tail("up\n");
  const auto guard = parent_of(read_pid("keeper"));

  ::kill(guard, SIGKILL);
  ::kill(read_pid("keeper"), SIGKILL);
  tail();

  EXPECT_EQ(state(), "lost");
  EXPECT_THAT(processes_of_job(folder), IsEmpty());
}

TEST_F(NodeJob, IsLostAndNamesTheSenderWhereItsSupervisorIsTerminated) {
  start("echo up; sleep 57001");
  tail("up\n");

  ::kill(read_pid("keeper"), SIGTERM);
  tail();

  EXPECT_EQ(state(), "lost");
  EXPECT_THAT(processes_of_job(folder), IsEmpty());
  EXPECT_THAT(node("tail --folder " + folder).out,
              HasSubstr("process " + std::to_string(::getpid()) + " sent signal 15"));
}

TEST_F(NodeJob, IsLostWhenTheNodeWasRestarted) {
  start("true");
  tail();
  fs::remove(folder + "/exit");

  std::ofstream{folder + "/boot"} << "another boot\n";
  tail();

  EXPECT_EQ(state(), "lost");
}

TEST_F(NodeJob, IsLostWhereItsSupervisorsPidWasReused) {
  start("true");
  tail();
  fs::remove(folder + "/exit");

  std::ofstream{folder + "/keeper"} << ::getpid() << "\n";
  tail();

  EXPECT_EQ(state(), "lost");
}

TEST_F(NodeJob, ShowsThatItIsLookedAfter) {
  start("echo up; sleep 58001");

  tail("up\n");

  EXPECT_GE(last.at("heartbeat_age").as_double(), 0.0);
  EXPECT_LT(last.at("heartbeat_age").as_double(), 30.0);
}

TEST_F(NodeJob, ReturnsAfterTheRequestedWait) {
  start("sleep 59001");
  const auto before = std::chrono::steady_clock::now();

  node("tail --folder " + folder + " --wait 1");

  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::seconds{1});
}

TEST_F(NodeJob, IsListedWithAllOthersBelowTheFolder) {
  const auto jobs = base.path() / "jobs";
  fs::create_directories(jobs / "no-job");
  fs::permissions(jobs, fs::perms::owner_all);
  start("echo up; sleep 60001");
  node("start other --folder " + (jobs / "two").string() + " --limit 60 -- true");
  node("tail --wait 20 --folder " + (jobs / "two").string());

  const auto reported = node("list --base " + jobs.string());

  ASSERT_EQ(lines(reported.out).size(), 2u) << reported.out;
  const auto first = json::parse(lines(reported.out)[0]).as_object();
  const auto second = json::parse(lines(reported.out)[1]).as_object();
  EXPECT_EQ(first.at("folder"), folder.c_str());
  EXPECT_EQ(first.at("name"), "job");
  EXPECT_EQ(first.at("state"), "running");
  EXPECT_EQ(first.at("limit"), 60);
  EXPECT_EQ(second.at("name"), "other");
  EXPECT_EQ(second.at("state"), "ended");
}

TEST(NodeProgram, RefusesWhatItDoesNotUnderstand) {
  for (const char* words :
       {"", "no-such-subcommand", "start", "start job --folder /a/b/c --limit 5",
        "start job --folder /a/b/c --limit 0 -- true", "start job --folder a/b/c --limit 5 -- true",
        "start job --folder /a/../../c --limit 5 -- true", "tail", "tail --folder /tmp",
        "tail --folder /a/b/c --from -1", "tail --folder /a/b/c --wait 9999999999",
        "tail --folder /a/b/c --folder /a/b/d", "stop --folder", "list --no-such 1"}) {
    const auto ran = node(words);

    EXPECT_EQ(ran.status, 64) << words << ": " << ran.out;
    EXPECT_FALSE(ran.out.empty()) << words;
  }
}

TEST(NodeProgram, NeedsNothingOfANodeButItsCLibrary) {
  // Under a sanitizer it is larger than what is shipped, and asks for more of the C library.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  const std::string how = "--sanitized ";
#else
  const std::string how;
#endif
  EXPECT_EQ(
      std::system(("sh " SOURCE_DIR "/scripts/check-node-program " + how + NODE_BINARY).c_str()),
      0);
}

TEST(NodeProgram, PrintsItsUsageWhereItIsAskedForIt) {
  const auto all = node("--help");
  const auto one = node("check --help");

  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.out, HasSubstr("usage: cupel-node SUBCOMMAND"));
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.out, ::testing::AllOf(HasSubstr("usage: cupel-node check [--expect FILE]"),
                                        ::testing::Not(HasSubstr("kernel-log"))));
}

TEST(NodeProgram, TellsItsVersion) {
  EXPECT_EQ(json::parse(node("--version").out),
            json::parse(R"({"kind":"version","program":"cupel-node","version":")" CUPEL_VERSION
                        R"(","protocol":1})"));
}

}  // namespace
}  // namespace cupel::agent
