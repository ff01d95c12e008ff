// What the controller says to a node about its programs and the jobs that they look after, said to
// a virtual node.
#include <fstream>

#include "base/digest.h"
#include "orchestrator/ssh/detached.h"
#include "orchestrator/ssh/libraries.h"
#include "orchestrator/ssh/programs.h"
#include "tests/rehearsal/bench.h"
#include "tests/support/captures.h"

namespace cupel::ssh {
namespace {

using namespace std::chrono_literals;
using Phase = JobState::Phase;

struct OnABench final : Session {
  explicit OnABench(rehearsal::Bench& on) : bench{on} {}

  Task<Result<CommandOutcome>> run(std::string command, std::string input, Sink sink,
                                   Deadline) override {
    const auto ran = bench.sh(command, input);
    sink(Stream::out, ran.out);
    sink(Stream::err, ran.err);
    co_return CommandOutcome{ran.status};
  }

  rehearsal::Bench& bench;
};

class VirtualNodeJob : public ::testing::Test {
 protected:
  VirtualNodeJob() {
    std::ofstream{ours.path() / "cupel-node"} << "\x7f"
                                                 "ELF of a real machine";
  }
  Result<Brought> ensure() {
    return run_to_end(
        io, ensure_programs(node, shelf, {"cupel-node"}, handle.folder, false, Deadline::in(60s)));
  }
  Result<void> start(const std::string& script) {
    return run_to_end(io, start_job(node, handle, script, 3600s, Deadline::in(60s)));
  }
  JobState read(std::uint64_t from = 0) {
    auto state = run_to_end(io, read_job(node, handle, from, 0, 10s, Deadline::in(60s)));
    EXPECT_TRUE(state) << state.error().what;
    return state ? *std::move(state) : JobState{};
  }

  asio::io_context io{};
  rehearsal::Bench bench{};
  OnABench node{bench};
  test::TemporaryFolder ours{};
  ProgramShelf shelf{{ours.path()}};
  const JobHandle handle{"/var/lib/cupel-node/cupel-1-run1-x"};
};

TEST_F(VirtualNodeJob, IsLookedAfterByTheProgramThatWasBrought) {
  const auto program = ensure();
  ASSERT_TRUE(program) << program.error().what;
  ASSERT_EQ(program->keeper, "/opt/cupel/bin/cupel-node");
  EXPECT_EQ(ensure()->keeper, program->keeper) << "a second time";

  ASSERT_TRUE(start("echo up; sleep 100; exit 5"));
  EXPECT_EQ(run_to_end(io, forget_job(node, handle, Deadline::in(60s))).error().code,
            Code::kConflict);
  auto state = read(3);
  while (state.phase == Phase::running) state = read(3);

  EXPECT_EQ(state.phase, Phase::ended);
  EXPECT_EQ(state.exit_status, 5);
  EXPECT_EQ(read().out, "up\n");
  EXPECT_TRUE(bench.sh("test -s " + handle.folder + "/program").status == 0);
  EXPECT_TRUE(run_to_end(io, forget_job(node, handle, Deadline::in(60s))));
  EXPECT_EQ(read().phase, Phase::unknown);
}

TEST_F(VirtualNodeJob, IsEndedByTheProgramThatTheNodesImageHas) {
  ASSERT_TRUE(start("echo up; sleep 3000"));
  EXPECT_EQ(read().out, "up\n");

  ASSERT_TRUE(run_to_end(io, stop_job(node, handle, Deadline::in(60s))));

  EXPECT_EQ(read(3).phase, Phase::stopped);
  ASSERT_TRUE(run_to_end(io, forget_job(node, handle, Deadline::in(60s))));
  EXPECT_NE(bench.sh("test -e " + handle.folder).status, 0);
}

TEST_F(VirtualNodeJob, IsGivenAWord) {
  ASSERT_TRUE(start("until [ -s \"$CUPEL_JOB/word\" ]; do sleep 1; done; cat \"$CUPEL_JOB/word\""));

  ASSERT_TRUE(run_to_end(io, tell_job(node, handle, "it's read", Deadline::in(60s))));

  auto state = read();
  while (state.phase == Phase::running) state = read();
  EXPECT_EQ(state.out, "it's read\n");
}

/// Of a controller that has packed cupel-burn with CUDA's libraries.
class VirtualNodeLibraries : public VirtualNodeJob {
 protected:
  VirtualNodeLibraries() {
    std::ofstream{ours.path() / "cupel-burn"} << "\x7f"
                                                 "ELF that burns";
    std::filesystem::create_directory(ours.path() / "lib");
    const std::string bytes(3'000'000, 'n');
    std::ofstream{ours.path() / "lib" / "libnccl.so.2"} << bytes;
    std::ofstream{ours.path() / "lib" / "manifest"} << sha256_hex(bytes)
                                                    << " 3000000 libnccl.so.2\n";
    brought = run_to_end(io, ensure_programs(node, shelf, {"cupel-burn"}, handle.folder, false,
                                             Deadline::in(60s)))
                  .has_value();
  }
  Result<void> ensure_its_libraries() {
    return run_to_end(
        io, ensure_libraries(node, shelf, false, [](const std::string&) {}, Deadline::in(60s)));
  }

  bool brought = false;
};

TEST_F(VirtualNodeLibraries, AreLeftAtHomeWhereTheNodeHasItsOwn) {
  ASSERT_TRUE(brought);

  ASSERT_TRUE(ensure_its_libraries());

  EXPECT_NE(bench.sh("test -e /opt/cupel/bin/lib").status, 0);
}

TEST_F(VirtualNodeLibraries, AreBroughtWhereItHasNoneAndThenItBurns) {
  ASSERT_TRUE(brought);
  bench.sh("rm /usr/lib/x86_64-linux-gnu/libnccl.so.2");
  const auto burn = [&] { return bench.sh("/opt/cupel/bin/cupel-burn collective --seconds 5"); };
  ASSERT_THAT(burn().out, ::testing::HasSubstr("no-library"));

  const auto came = ensure_its_libraries();

  ASSERT_TRUE(came) << came.error().what;
  EXPECT_EQ(bench.sh("wc -c < /opt/cupel/bin/lib/libnccl.so.2").out, "3000000\n");
  EXPECT_EQ(bench.sh("ls -A /opt/cupel/bin/lib").out, "libnccl.so.2\n");
  EXPECT_EQ(burn().status, 0);
}

}  // namespace
}  // namespace cupel::ssh
