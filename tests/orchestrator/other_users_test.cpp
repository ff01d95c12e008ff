// What other users of a node could have planted in the way of a job, on a real sshd: none of it is
// read as a job's, and none of it is run.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/ssh/programs.h"
#include "tests/orchestrator/node.h"
#include "tests/support/captures.h"

namespace cupel::ssh {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Phase = JobState::Phase;

constexpr uid_t kSomebody = 65534;

/// Passes everything on, and keeps every command line.
struct Overheard final : Session {
  explicit Overheard(std::unique_ptr<Session> to) : session{std::move(to)} {}

  Task<Result<CommandOutcome>> run(std::string command, std::string input, Sink sink,
                                   Deadline deadline) override {
    commands.push_back(command);
    return session->run(std::move(command), std::move(input), std::move(sink), deadline);
  }

  std::unique_ptr<Session> session;
  std::vector<std::string> commands{};
};

class OtherUsers : public OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    base = sshd_->file(::testing::UnitTest::GetInstance()->current_test_info()->name());
    parent = base / "jobs";
    handle.folder = (parent / "run-1").string();
    handle.programs = base.string() + "-bin";
    fs::create_directories(base);
    fs::copy_file(NODE_BINARY, ours.path() / "cupel-node");
    make(handle.programs, 0755);
    fs::copy_file(NODE_BINARY, program());
    fs::permissions(program(), fs::perms{0755});
    on = std::make_unique<Overheard>(session());
  }

  Result<void> start(const std::string& script) {
    return run_to_end(io, start_job(*on, handle, script, 60s, Deadline::in(60s)));
  }
  Result<JobState> read() {
    return run_to_end(io, read_job(*on, handle, 0, 0, 5s, Deadline::in(60s)));
  }
  Result<void> tell() { return run_to_end(io, tell_job(*on, handle, "word", Deadline::in(60s))); }
  Result<void> stop() { return run_to_end(io, stop_job(*on, handle, Deadline::in(60s))); }
  Result<void> forget() { return run_to_end(io, forget_job(*on, handle, Deadline::in(60s))); }
  Result<Brought> ensure() {
    ProgramShelf shelf{{ours.path()}, handle.programs};
    return run_to_end(io, ensure_programs(*on, shelf, {"cupel-node"}, handle.folder, handle.sudo,
                                          Deadline::in(60s)));
  }

  /// The node's cupel-node.
  fs::path program() const { return fs::path{handle.programs} / "cupel-node"; }
  void make(const fs::path& folder, unsigned mode = 0700) const {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms{mode});
  }
  /// As an attacker lays it out: everything that says that a job was started and who is asked.
  void plant(const fs::path& folder) const {
    make(folder / "started");
    std::ofstream{base / "evil"} << "#!/bin/sh\ntouch '" << (base / "ran").string()
                                 << "'\necho forged\n";
    fs::permissions(base / "evil", fs::perms{0755});
    std::ofstream{folder / "program"} << (base / "evil").string() << "\n";
    std::ofstream{folder / "as"} << (base / "evil").string() << "\n";
    std::ofstream{folder / "boot"} << std::ifstream{"/proc/sys/kernel/random/boot_id"}.rdbuf();
    std::ofstream{folder / "keeper"} << ::getpid() << "\n";
    std::ofstream{folder / "out"} << "forged\n";
    std::ofstream{folder / "exit"} << "0\n";
  }
  void expect_refused(const fs::path& what, const std::string& found) {
    const auto state = read();
    const std::vector<Result<void>> all{start("touch " + (base / "ran").string()),
                                        state ? ok() : Result<void>{state.error()}, tell(), stop(),
                                        forget()};
    for (const auto& each : all) {
      ASSERT_FALSE(each);
      EXPECT_EQ(each.error().code, Code::kFailed);
      EXPECT_THAT(each.error().what, AllOf(HasSubstr(what.string() + " is "), HasSubstr(found),
                                           HasSubstr("remove it")));
    }
    EXPECT_FALSE(fs::exists(base / "ran"));
    EXPECT_FALSE(fs::exists(handle.folder + "/input"));
    EXPECT_FALSE(fs::exists(handle.folder + "/word"));
  }

  fs::path base{};
  fs::path parent{};
  JobHandle handle{};
  test::TemporaryFolder ours{};
  std::unique_ptr<Overheard> on{};
};

TEST_F(OtherUsers, CannotLetAJobRunInAFolderThatTheyMayEnter) {
  make(parent);
  plant(handle.folder);
  fs::permissions(handle.folder, fs::perms{0700});
  fs::permissions(parent, fs::perms{0755});

  expect_refused(parent, "mode 0755");

  fs::permissions(parent, fs::perms{0700});
  fs::permissions(handle.folder, fs::perms{0777});

  expect_refused(handle.folder, "mode 0777");
}

TEST_F(OtherUsers, CannotLetAJobRunInAFolderOfTheirOwn) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "only root may give a folder away");
  make(parent);
  plant(handle.folder);
  fs::permissions(handle.folder, fs::perms{0700});
  ASSERT_EQ(::chown(handle.folder.c_str(), kSomebody, kSomebody), 0);

  expect_refused(handle.folder, "of user 65534");

  ASSERT_EQ(::chown(parent.c_str(), kSomebody, kSomebody), 0);
  expect_refused(parent, "of user 65534");
}

TEST_F(OtherUsers, CannotLetAJobRunBehindALink) {
  make(base / "elsewhere");
  plant(base / "elsewhere" / "run-1");
  fs::permissions(base / "elsewhere" / "run-1", fs::perms{0700});
  fs::create_directory_symlink(base / "elsewhere", parent);

  expect_refused(parent, "a symbolic link");

  fs::remove(parent);
  make(parent);
  fs::create_directory_symlink(base / "elsewhere" / "run-1", handle.folder);
  expect_refused(handle.folder, "a symbolic link");
}

TEST_F(OtherUsers, CannotLetAJobRunBelowAFolderThatTheyMayWriteTo) {
  make(parent);
  fs::permissions(base, fs::perms{0777});

  expect_refused(base, "mode 0777");

  fs::permissions(base, fs::perms{0700});
}

TEST_F(OtherUsers, CannotNameAProgramThatIsRun) {
  make(parent);
  plant(handle.folder);
  fs::permissions(handle.folder, fs::perms{0700});

  const auto state = read();
  const auto stopped = stop();

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->phase, Phase::ended);
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(fs::exists(base / "ran"));
}

TEST_F(OtherUsers, CannotReplaceTheProgramThatAsksForAJob) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "only root may give a file away");
  make(parent);
  plant(handle.folder);
  fs::permissions(handle.folder, fs::perms{0700});
  fs::copy_file(base / "evil", program(), fs::copy_options::overwrite_existing);
  ASSERT_EQ(::chown(program().c_str(), kSomebody, kSomebody), 0);

  const auto state = read();

  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().what, HasSubstr(program().string() + " is -rwxr-xr-x of user 65534"));
  EXPECT_FALSE(fs::exists(base / "ran"));
  fs::remove_all(handle.folder);
  const auto brought = ensure();
  ASSERT_TRUE(brought) << brought.error().what;
  struct stat now{};
  ::lstat(program().c_str(), &now);
  EXPECT_EQ(now.st_uid, 0) << "it was not replaced";
  EXPECT_FALSE(fs::exists(base / "ran"));
}

TEST_F(OtherUsers, CannotHaveTheirProgramsFoundFirst) {
  make(handle.programs, 0777);

  const auto started = start("true");
  const auto brought = ensure();

  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().what,
              AllOf(HasSubstr(handle.programs + " is drwxrwxrwx"), HasSubstr("remove it")));
  ASSERT_FALSE(brought);
  EXPECT_THAT(brought.error().what, HasSubstr(handle.programs + " is drwxrwxrwx"));
}

TEST_F(OtherUsers, CannotLeadToTheirProgramsByALink) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "only root may give a link away");
  const auto link = base / "link";
  fs::create_directory_symlink(base, link);
  fs::rename(handle.programs, base / "bin");
  handle.programs = (link / "bin").string();
  const auto read_anew = [this] {
    on = std::make_unique<Overheard>(session());
    return read();
  };
  const auto by_our_own = read_anew();
  ASSERT_EQ(::lchown(link.c_str(), kSomebody, kSomebody), 0);

  const auto by_theirs = read_anew();
  ASSERT_EQ(::lchown(link.c_str(), 0, 0), 0);
  fs::permissions(base / "bin", fs::perms{0777});
  const auto into_theirs = read_anew();

  EXPECT_TRUE(by_our_own) << by_our_own.error().what;
  ASSERT_FALSE(by_theirs);
  EXPECT_THAT(by_theirs.error().what, HasSubstr(link.string() + " is lrwxrwxrwx of user 65534"));
  ASSERT_FALSE(into_theirs);
  EXPECT_THAT(into_theirs.error().what, HasSubstr("/bin is drwxrwxrwx"));
}

TEST_F(OtherUsers, AreLookedForOnceForAConnectionAndBeforeEachStart) {
  const auto looks = [this] {
    return std::ranges::count_if(
        on->commands, [](const std::string& command) { return command.starts_with("'stat'"); });
  };
  ASSERT_TRUE(start("echo up; sleep 67001"));
  ASSERT_TRUE(read());
  ASSERT_TRUE(read());
  ASSERT_TRUE(stop());
  const auto at_first = looks();
  const auto commands = on->commands.size();
  ASSERT_TRUE(start("true"));
  const auto by_start = looks();
  on = std::make_unique<Overheard>(session());
  ASSERT_TRUE(read());
  ASSERT_TRUE(forget());

  EXPECT_EQ(at_first, 1);
  EXPECT_EQ(commands, 5u) << "one for each that was asked, and the look";
  EXPECT_EQ(by_start, 2);
  EXPECT_EQ(looks(), 1);
}

TEST_F(OtherUsers, ReadNoScriptAndNoWordInACommandLine) {
  ASSERT_TRUE(ensure());
  ASSERT_TRUE(start("until [ -s \"$CUPEL_JOB/word\" ]; do sleep 0.1; done; echo hush"));
  ASSERT_TRUE(tell());
  ASSERT_TRUE(read());
  ASSERT_TRUE(stop());
  ASSERT_TRUE(forget());

  EXPECT_GE(on->commands.size(), 7u);
  for (const auto& command : on->commands)
    EXPECT_THAT(command, AllOf(Not(HasSubstr("hush")), Not(HasSubstr("word")))) << command;
}

}  // namespace
}  // namespace cupel::ssh
