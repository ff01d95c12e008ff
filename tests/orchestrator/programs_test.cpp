// Programs on their way to a node, and the jobs that cupel-node looks after there, on a real sshd.
#include "orchestrator/ssh/programs.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/ssh/detached.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"

namespace cupel::ssh {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Phase = JobState::Phase;

class ProgramsOnANode : public OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    node = sshd_->file(name + "/bin");
    handle.folder = sshd_->file(name + "/jobs/run-1");
    handle.programs = node;
    shelf = ProgramShelf{{ours.path()}, node};
    on = session();
  }

  void put(const std::string& name, const std::string& bytes) {
    std::ofstream{ours.path() / name, std::ios::binary} << bytes;
  }
  void put_real_program() { fs::copy_file(NODE_BINARY, ours.path() / "cupel-node"); }
  std::string on_node(const std::string& name) {
    const auto bytes = read_file(fs::path{node} / name, 256u << 20);
    return bytes ? *bytes : "";
  }
  Result<Brought> ensure(std::vector<std::string> names) {
    return run_to_end(
        io, ensure_programs(*on, shelf, std::move(names), handle.folder, false, Deadline::in(60s)));
  }
  Result<void> start(const std::string& script) {
    return run_to_end(io, start_job(*on, handle, script, 60s, Deadline::in(60s)));
  }
  JobState read(std::uint64_t out_from = 0, std::uint64_t err_from = 0) {
    auto state = run_to_end(io, read_job(*on, handle, out_from, err_from, 10s, Deadline::in(60s)));
    if (!state) throw std::runtime_error{state.error().what};
    return std::move(state).value();
  }
  /// Reads on until it has ended, or said so many bytes.
  JobState read_on(std::string& out, std::string& err, std::size_t enough = ~0ull) {
    JobState state;
    const auto end = Deadline::in(60s);
    do {
      state = read(out.size(), err.size());
      out += state.out;
      err += state.err;
    } while (state.phase == Phase::running && out.size() < enough && !end.passed());
    return state;
  }

  test::TemporaryFolder ours{};
  std::string node{};
  JobHandle handle{};
  ProgramShelf shelf{};
  std::unique_ptr<Session> on{};
};

TEST_F(ProgramsOnANode, AreBroughtOnceAndCheckedByTheirSum) {
  put("cupel-burn", "a program");

  ASSERT_TRUE(ensure({"cupel-burn"}));

  EXPECT_EQ(on_node("cupel-burn"), "a program");
  struct stat before{}, after{};
  ::stat((node + "/cupel-burn").c_str(), &before);
  EXPECT_EQ(before.st_mode & 07777, 0755u);
  ASSERT_TRUE(ensure({"cupel-burn"}));
  ::stat((node + "/cupel-burn").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino) << "it was written again";
}

TEST_F(ProgramsOnANode, OfAnotherKindAreTakenFromItsFolderAndOfNoKindFromNone) {
  put("cupel-node", "for this machine");
  fs::create_directory(ours.path() / "aarch64");
  put("aarch64/cupel-node", "for Arm");

  const auto own = shelf.find("cupel-node");
  const auto arm = shelf.find("cupel-node", "aarch64");
  const auto other = shelf.find("cupel-node", "riscv64");
  const auto outside = shelf.find("cupel-node", "../aarch64");

  ASSERT_TRUE(own && arm && other && outside);
  EXPECT_EQ((*own)->bytes, "for this machine");
  EXPECT_EQ((*arm)->bytes, "for Arm");
  EXPECT_EQ(*other, nullptr);
  EXPECT_EQ(*outside, nullptr);
}

/// A node that says it is another kind of machine: its `uname` is in front of the real one.
TEST_F(ProgramsOnANode, WhoseMachineHasNoProgramOfOursSaysHowToBuildIt) {
  put("cupel-node", "for this machine");
  const auto uname = sshd_->file("path/uname");
  fs::create_directories(sshd_->file("path"));
  std::ofstream{uname} << "#!/bin/sh\necho aarch64\n";
  fs::permissions(uname, fs::perms::owner_all);

  const auto brought = ensure({"cupel-node"});
  fs::remove(uname);

  ASSERT_TRUE(brought) << brought.error().what;
  EXPECT_EQ(brought->keeper, std::nullopt);
  EXPECT_THAT(brought->why_not, AllOf(HasSubstr("the node is aarch64"), HasSubstr("--aarch64")));
  EXPECT_EQ(on_node("cupel-node"), "") << "ours would not run there";
}

TEST_F(ProgramsOnANode, ReplaceWhatIsAnotherOneOrOnlyHalfThere) {
  const std::string whole(3'000'000, 'x');
  put("cupel-burn", whole);
  fs::create_directories(node);
  for (const auto& other : {std::string{"another one"}, whole.substr(0, 1'000'000)}) {
    std::ofstream{node + "/cupel-burn", std::ios::binary} << other;
    fs::permissions(node + "/cupel-burn", fs::perms{0755});

    ASSERT_TRUE(ensure({"cupel-burn"}));

    EXPECT_TRUE(on_node("cupel-burn") == whole);
  }
}

TEST_F(ProgramsOnANode, CutOffInTheMiddleLeaveNothingOfThemselves) {
  put("cupel-burn", std::string(64u << 20, 'x'));
  fs::create_directories(node);
  const auto begun = [this] { return !fs::is_empty(node); };
  bool seen = false;
  std::jthread cut{[&](const std::stop_token& stop) {
    while (!seen && !stop.stop_requested()) seen = begun();
    if (seen) sshd_->crash();
  }};

  const auto brought = ensure({"cupel-burn"});

  cut.request_stop();
  cut.join();
  sshd_->restart();
  ASSERT_TRUE(seen);
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, Code::kUnreachable);
  // The node's side hears of the end a moment later.
  const auto patience = Deadline::in(60s);
  while (begun() && !patience.passed()) {
  }
  EXPECT_TRUE(fs::is_empty(node));
  on = session();
  EXPECT_TRUE(ensure({"cupel-burn"})) << "another try";
}

TEST_F(ProgramsOnANode, ThatTheControllerHasNotAreTheNodesOwnAffair) {
  const auto keeper = ensure({"cupel-node", "cupel-burn"});

  ASSERT_TRUE(keeper);
  EXPECT_EQ(keeper->keeper, std::nullopt);
  EXPECT_FALSE(fs::exists(node));
}

TEST_F(ProgramsOnANode, ThatDoNotRunThereLookAfterNoJob) {
  put("cupel-node",
      "\x7f"
      "ELF of another architecture");

  const auto keeper = ensure({"cupel-node"});

  ASSERT_TRUE(keeper);
  EXPECT_EQ(keeper->keeper, std::nullopt);
}

TEST_F(ProgramsOnANode, ThatNeedANewerCLibrarySaySo) {
  // The words are the loader's own, on Debian 11.
  put("cupel-node",
      "#!/bin/sh\necho \"$0: /lib/x86_64-linux-gnu/libc.so.6: version \\`GLIBC_2.34' not found "
      "(required by $0)\" >&2\nexit 1\n");

  const auto keeper = ensure({"cupel-node"});

  ASSERT_TRUE(keeper);
  EXPECT_EQ(keeper->keeper, std::nullopt);
  EXPECT_THAT(keeper->why_not, AllOf(HasSubstr("older than glibc 2.34"), HasSubstr("RHEL 9"),
                                     HasSubstr("`GLIBC_2.34' not found"), HasSubstr("glibc 2.")));
}

TEST_F(ProgramsOnANode, AreNotReplacedUnderAJobThatWasStarted) {
  put("cupel-burn", "a newer one");
  fs::create_directories(node);
  fs::create_directories(handle.folder + "/started");
  fs::permissions(handle.folder, fs::perms::owner_all);
  fs::permissions(fs::path{handle.folder}.parent_path(), fs::perms::owner_all);
  std::ofstream{node + "/cupel-burn"} << "the one that burns";
  fs::permissions(node + "/cupel-burn", fs::perms{0755});

  ASSERT_TRUE(ensure({"cupel-burn"}));

  EXPECT_EQ(on_node("cupel-burn"), "the one that burns");
}

TEST_F(ProgramsOnANode, SayWhyTheyCannotBeWritten) {
  put("cupel-burn", "a program");
  shelf = ProgramShelf{{ours.path()}, "/proc/no/such/folder"};

  const auto brought = ensure({"cupel-burn"});

  EXPECT_EQ(brought.error().code, Code::kFailed);
  EXPECT_THAT(brought.error().what, HasSubstr("bring cupel-burn to /proc/no/such/folder"));
}

TEST_F(ProgramsOnANode, LookAfterAJobThatLosesNothingByADropAndAnotherController) {
  put_real_program();
  const auto keeper = ensure({"cupel-node"});
  ASSERT_TRUE(keeper && keeper->keeper);
  std::string bytes(100'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 3);
  std::ofstream{sshd_->file("bytes"), std::ios::binary} << bytes;
  const auto cat = "cat " + sshd_->file("bytes");
  const auto script =
      "for i in 1 2 3 4 5 6 7 8 9 10; do " + cat + "; " + cat + " >&2; sleep 0.2; done; exit 3";
  ASSERT_TRUE(start(script));
  std::string out, err;
  read_on(out, err, 100'001);
  ASSERT_LT(out.size(), 1'000'000u);

  sshd_->crash();
  EXPECT_FALSE(run(*on, "true"));
  sshd_->restart();
  on = session();
  // Another controller knows the folder alone, and has no programs; what it starts again runs on.
  ASSERT_TRUE(start(script));
  const auto state = read_on(out, err);

  std::string expected;
  for (int i = 0; i < 10; ++i) expected += bytes;
  EXPECT_EQ(state.phase, Phase::ended);
  EXPECT_EQ(state.exit_status, 3);
  EXPECT_TRUE(out == expected) << out.size();
  EXPECT_TRUE(err == expected) << err.size();
  EXPECT_TRUE(run_to_end(io, forget_job(*on, handle, Deadline::in(60s))));
  EXPECT_FALSE(fs::exists(handle.folder));
}

TEST_F(ProgramsOnANode, EndAJobAtItsLimitThoughNoControllerComesBack) {
  put_real_program();
  const auto keeper = ensure({"cupel-node"});
  ASSERT_TRUE(keeper && keeper->keeper);
  auto starting =
      start_job(*on, handle, "echo up; setsid sleep 66001 & sleep 66002", 1s, Deadline::in(60s));
  ASSERT_TRUE(run_to_end(io, std::move(starting)));

  on.reset();

  pid_t keeper_pid = 0;
  std::ifstream{handle.folder + "/keeper"} >> keeper_pid;
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, keeper_pid, 0)), POLLIN, 0};
  const bool gone = end.fd < 0 || ::poll(&end, 1, 30'000) == 1;
  EXPECT_TRUE(gone) << "its supervisor lives on";
  ::close(end.fd);
  EXPECT_TRUE(cupel::testing::processes_of_job(handle.folder).empty());
  on = session();
  const auto state = read();
  EXPECT_EQ(state.phase, Phase::ended);
  EXPECT_EQ(state.exit_status, 124);
  EXPECT_EQ(state.out, "up\n");
}

TEST_F(ProgramsOnANode, EndAJobWithAllThatItStarted) {
  put_real_program();
  const auto keeper = ensure({"cupel-node"});
  ASSERT_TRUE(keeper && keeper->keeper);
  ASSERT_TRUE(start("setsid env -i sleep 61001 & echo up; sleep 61002"));
  std::string out, err;
  read_on(out, err, 3);
  const auto early = run_to_end(io, forget_job(*on, handle, Deadline::in(60s)));
  EXPECT_EQ(early.error().code, Code::kConflict);

  ASSERT_TRUE(run_to_end(io, stop_job(*on, handle, Deadline::in(60s))));

  EXPECT_TRUE(cupel::testing::processes_with("sleep 6100").empty());
  EXPECT_EQ(read(3).phase, Phase::stopped);
}

TEST_F(ProgramsOnANode, SayEndedOnlyWithTheLastPiece) {
  put_real_program();
  const auto keeper = ensure({"cupel-node"});
  ASSERT_TRUE(keeper && keeper->keeper);
  ASSERT_TRUE(start("head -c 9000000 /dev/zero"));
  std::string out, err;

  const auto state = read_on(out, err);

  EXPECT_EQ(state.phase, Phase::ended);
  EXPECT_EQ(out.size(), 9'000'000u);
}

TEST_F(ProgramsOnANode, AreBroughtAgainWhereTheyVanishedInMidJob) {
  put_real_program();
  const auto keeper = ensure({"cupel-node"});
  ASSERT_TRUE(keeper && keeper->keeper);
  ASSERT_TRUE(start("echo up; sleep 62001"));
  std::string out, err;
  read_on(out, err, 3);

  fs::remove(node + "/cupel-node");
  EXPECT_EQ(read().out, "up\n") << "the one in PATH";
  fs::remove(sshd_->file("path/cupel-node"));
  const auto without = run_to_end(io, read_job(*on, handle, 0, 0, 0s, Deadline::in(60s)));
  const auto again = ensure({"cupel-node"});

  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::kNotFound);
  EXPECT_THAT(without.error().what, HasSubstr("the node has no cupel-node, neither in " + node));
  ASSERT_TRUE(again && again->keeper);
  EXPECT_EQ(read(0).out, "up\n");
  ASSERT_TRUE(run_to_end(io, stop_job(*on, handle, Deadline::in(60s))));
  EXPECT_EQ(read(3).phase, Phase::stopped);
  EXPECT_TRUE(cupel::testing::processes_of_job(handle.folder).empty());
}

/// sudo's own status for a program that is not there is 1.
TEST_F(ProgramsOnANode, ThatAreMissingAreSaidToBeByRootToo) {
  const auto sudo = sshd_->file("path/sudo");
  std::ofstream{sudo} << "#!/bin/sh\nshift\nif ! command -v \"$1\" > /dev/null; then\n"
                         "  echo \"sudo: $1: command not found\" >&2\n  exit 1\nfi\n"
                         "exec \"$@\"\n";
  fs::permissions(sudo, fs::perms::owner_all);
  fs::remove(sshd_->file("path/cupel-node"));
  handle.sudo = true;

  const auto missing = run_to_end(io, read_job(*on, handle, 0, 0, 0s, Deadline::in(60s)));
  install_node_program();
  const auto there = run_to_end(io, read_job(*on, handle, 0, 0, 0s, Deadline::in(60s)));
  fs::remove(sudo);

  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound) << missing.error().what;
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_EQ(there->phase, Phase::unknown);
}

}  // namespace
}  // namespace cupel::ssh
