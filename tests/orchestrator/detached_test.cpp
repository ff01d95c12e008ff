#include "orchestrator/ssh/detached.h"

#include <filesystem>
#include <fstream>

#include "tests/orchestrator/node.h"

namespace cupel::ssh {
namespace {

using cupel::testing::processes_with;
using Phase = JobState::Phase;

/// Everything that a job has said until now.
struct Spool {
  JobState last;
  std::string out;
  std::string err;
};

class DetachedTest : public OnANode {
 protected:
  void SetUp() override {
    OnANode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    handle.folder = sshd_->file("jobs/run-1/") +
                    ::testing::UnitTest::GetInstance()->current_test_info()->name();
    on = session();
  }

  Result<void> start(const std::string& script, std::chrono::seconds limit = 60s) {
    return run_to_end(io, start_job(*on, handle, script, limit, Deadline::in(60s)));
  }
  JobState read(std::uint64_t out_from = 0, std::uint64_t err_from = 0,
                std::chrono::seconds wait = 10s) {
    auto work = read_job(*on, handle, out_from, err_from, wait, Deadline::in(wait + 60s));
    auto state = run_to_end(io, std::move(work));
    if (!state) throw std::runtime_error{state.error().what};
    return std::move(state).value();
  }
  Result<void> stop() { return run_to_end(io, stop_job(*on, handle, Deadline::in(60s))); }
  Result<void> forget() { return run_to_end(io, forget_job(*on, handle, Deadline::in(60s))); }

  /// Reads on until it has ended, or `enough` says so.
  template <class Enough>
  void read_on(Spool& spool, const Enough& enough) {
    const auto end = Deadline::in(60s);
    while (!enough(spool) && !end.passed()) {
      spool.last = read(spool.out.size(), spool.err.size());
      spool.out += spool.last.out;
      spool.err += spool.last.err;
    }
  }
  void read_to_end(Spool& spool) {
    read_on(spool, [](const Spool& now) {
      return now.last.phase != Phase::unknown && now.last.phase != Phase::running;
    });
  }

  JobHandle handle;
  std::unique_ptr<Session> on;
};

TEST_F(DetachedTest, IsUnknownUntilItIsStarted) { EXPECT_EQ(read().phase, Phase::unknown); }

TEST_F(DetachedTest, SpoolsBothStreamsAndTheExitStatus) {
  ASSERT_TRUE(start("echo to out; echo to err >&2; exit 5"));

  Spool spool;
  read_to_end(spool);

  EXPECT_EQ(spool.last.phase, Phase::ended);
  EXPECT_EQ(spool.last.exit_status, 5);
  EXPECT_EQ(spool.out, "to out\n");
  EXPECT_EQ(spool.err, "to err\n");
}

TEST_F(DetachedTest, LosesAndDoublesNoByteWhenTheConnectionDiesInTheMiddle) {
  // 1 MB of every byte value, in pieces, on both streams.
  std::string bytes(100'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 3);
  std::ofstream{sshd_->file("bytes"), std::ios::binary} << bytes;
  const auto cat = "cat " + sshd_->file("bytes");
  ASSERT_TRUE(
      start("for i in 1 2 3 4 5 6 7 8 9 10; do " + cat + "; " + cat + " >&2; sleep 0.2; done"));
  Spool spool;
  read_on(spool, [](const Spool& now) { return now.out.size() > 100'000; });

  sshd_->crash();
  EXPECT_FALSE(run(*on, "true"));
  sshd_->restart();
  on = session();
  read_to_end(spool);

  std::string expected;
  for (int i = 0; i < 10; ++i) expected += bytes;
  EXPECT_EQ(spool.last.exit_status, 0);
  EXPECT_TRUE(spool.out == expected) << spool.out.size();
  EXPECT_TRUE(spool.err == expected) << spool.err.size();
  EXPECT_TRUE(forget());
}

TEST_F(DetachedTest, ASecondStartChangesNothing) {
  ASSERT_TRUE(start("echo first; sleep 1"));
  ASSERT_TRUE(start("echo second"));
  Spool spool;
  read_to_end(spool);
  ASSERT_TRUE(start("echo third"));

  EXPECT_EQ(spool.out, "first\n");
  EXPECT_EQ(read().out, "first\n");
}

TEST_F(DetachedTest, TellsAJobAWord) {
  ASSERT_TRUE(
      start("until [ -s \"$CUPEL_JOB/word\" ]; do sleep 0.1; done; cat \"$CUPEL_JOB/word\""));
  const auto tell = [&](const std::string& word) {
    return run_to_end(io, tell_job(*on, handle, word, Deadline::in(60s)));
  };

  const auto reported = tell("it's read");
  Spool spool;
  read_to_end(spool);
  ASSERT_TRUE(forget());
  const auto late = tell("more");

  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(spool.out, "it's read\n");
  EXPECT_TRUE(late) << "a job that has gone needs no word";
  EXPECT_FALSE(std::filesystem::exists(handle.folder));
}

TEST_F(DetachedTest, StopEndsGrandchildrenToo) {
  ASSERT_TRUE(
      start("setsid sleep 20001 & sh -c 'sleep 20002 & sleep 20003' & echo up; sleep 20004"));
  Spool spool;
  read_on(spool, [](const Spool& now) { return now.out == "up\n"; });

  ASSERT_TRUE(stop());

  EXPECT_TRUE(processes_with("sleep 2000").empty());
  read_to_end(spool);
  EXPECT_EQ(spool.last.phase, Phase::stopped) << "what it said is no result";
  EXPECT_NE(spool.last.exit_status, 0);
  EXPECT_TRUE(stop()) << "a second time";
}

TEST_F(DetachedTest, StopEndsWhatIgnoresTerm) {
  ASSERT_TRUE(start("trap '' TERM; echo up; while :; do sleep 0.5; done"));
  Spool spool;
  read_on(spool, [](const Spool& now) { return now.out == "up\n"; });

  ASSERT_TRUE(stop());

  EXPECT_EQ(read(3).phase, Phase::stopped);
}

TEST_F(DetachedTest, TheNodeItselfEndsAJobAtItsLimit) {
  ASSERT_TRUE(start("echo up; sleep 20011 & sleep 20012", 1s));
  on.reset();
  on = session();

  Spool spool;
  read_to_end(spool);

  EXPECT_EQ(spool.last.phase, Phase::ended);
  EXPECT_EQ(spool.last.exit_status, 124);
  EXPECT_TRUE(processes_with("sleep 2001").empty());
}

TEST_F(DetachedTest, LeavesNothingRunningWhenTheScriptEnds) {
  ASSERT_TRUE(start("sleep 20021 & echo done"));
  Spool spool;
  read_to_end(spool);

  EXPECT_EQ(spool.last.exit_status, 0);
  EXPECT_TRUE(processes_with("sleep 2002").empty());
  EXPECT_TRUE(cupel::testing::processes_of_job(handle.folder).empty());
}

TEST_F(DetachedTest, IsLostWhenTheNodeWasRestarted) {
  ASSERT_TRUE(start("echo before; sleep 20031"));
  Spool spool;
  read_on(spool, [](const Spool& now) { return now.out == "before\n"; });

  std::ofstream{handle.folder + "/boot"} << "another boot\n";

  EXPECT_EQ(read(spool.out.size()).phase, Phase::lost);
  std::ofstream{handle.folder + "/boot"}
      << std::ifstream{"/proc/sys/kernel/random/boot_id"}.rdbuf();
  EXPECT_TRUE(stop());
}

TEST_F(DetachedTest, IsLostWhenSomebodyKilledItsKeeper) {
  ASSERT_TRUE(start("echo up; sleep 20041"));
  Spool spool;
  read_on(spool, [](const Spool& now) { return now.out == "up\n"; });

  run(*on, "kill -KILL $(cat " + handle.folder + "/keeper) -$(cat " + handle.folder + "/group)")
      .value();
  read_to_end(spool);

  EXPECT_EQ(spool.last.phase, Phase::lost);
}

TEST_F(DetachedTest, SaysEndedOnlyWithTheLastPiece) {
  ASSERT_TRUE(start("head -c 9000000 /dev/zero"));
  Spool spool;
  int rounds = 0;
  read_on(spool, [&](const Spool& now) {
    const bool ended = now.last.phase == Phase::ended;
    rounds += ended ? 0 : 1;
    return ended;
  });

  EXPECT_EQ(spool.out.size(), 9'000'000u);
  EXPECT_GE(rounds, 3);
}

TEST_F(DetachedTest, ForgetsOnlyWhatHasEnded) {
  ASSERT_TRUE(start("sleep 20051"));
  EXPECT_EQ(forget().error().code, Code::kConflict);
  ASSERT_TRUE(stop());

  EXPECT_TRUE(forget());

  EXPECT_FALSE(std::filesystem::exists(handle.folder));
  EXPECT_TRUE(forget()) << "a second time";
  EXPECT_EQ(read().phase, Phase::unknown);
}

TEST_F(DetachedTest, RefusesAFolderThatMustNotBeRemoved) {
  for (const char* folder :
       {"", "/", "/tmp", "/var/tmp", "/var/tmp/../../etc", "var/tmp/a/b", "/a//b/c"}) {
    handle.folder = folder;
    EXPECT_EQ(forget().error().code, Code::kInvalid) << folder;
  }
}

TEST_F(DetachedTest, SaysWhyItCannotStart) {
  handle.folder = "/proc/no/such/folder";

  EXPECT_EQ(start("true").error().code, Code::kFailed);
}

TEST_F(DetachedTest, WaitsOnTheNodeForAsLongAsItWasTold) {
  ASSERT_TRUE(start("sleep 20061"));
  const auto before = Deadline::Clock::now();

  EXPECT_EQ(read(0, 0, 1s).phase, Phase::running);

  // The node sleeps a whole second at least. That it comes back in time, read()'s deadline says.
  EXPECT_GE(Deadline::Clock::now() - before, 1s);
  EXPECT_TRUE(stop());
}

}  // namespace
}  // namespace cupel::ssh
