// What the controller says to a node about its programs and the jobs that they look after, said to
// a virtual node.
#include <fstream>

#include "orchestrator/ssh/detached.h"
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
  Task<Result<void>> upload(std::string, std::string, unsigned, Deadline) override {
    co_return Error{Code::kUnsupported, "not here"};
  }

  rehearsal::Bench& bench;
};

class VirtualNodeJob : public ::testing::Test {
 protected:
  VirtualNodeJob() {
    std::ofstream{ours.path() / "cupel-node"} << "\x7f"
                                                 "ELF of a real machine";
  }
  Result<std::optional<std::string>> ensure() {
    return run_to_end(
        io, ensure_programs(node, shelf, {"cupel-node"}, handle.folder, false, Deadline::in(20s)));
  }
  Result<void> start(const std::string& script, const std::string& program) {
    return run_to_end(io,
                      start_job(node, handle, script, 3600s, false, Deadline::in(20s), program));
  }
  JobState read(std::uint64_t from = 0) {
    auto state = run_to_end(io, read_job(node, handle, from, 0, 10s, Deadline::in(20s)));
    EXPECT_TRUE(state) << state.assume_error().what;
    return state ? std::move(state).assume_value() : JobState{};
  }

  asio::io_context io{};
  rehearsal::Bench bench{};
  OnABench node{bench};
  test::TemporaryFolder ours{};
  ProgramShelf shelf{{ours.path()}};
  const JobHandle handle{"/var/tmp/cupel-1-run1-x"};
};

TEST_F(VirtualNodeJob, IsLookedAfterByTheProgramThatWasBrought) {
  const auto program = ensure();
  ASSERT_TRUE(program) << program.assume_error().what;
  ASSERT_EQ(program.assume_value(), "/opt/cupel/bin/cupel-node");
  EXPECT_EQ(ensure().assume_value(), program.assume_value()) << "a second time";

  ASSERT_TRUE(start("echo up; sleep 100; exit 5", *program.assume_value()));
  EXPECT_EQ(run_to_end(io, forget_job(node, handle, Deadline::in(20s))).assume_error().code,
            Code::kConflict);
  auto state = read(3);
  while (state.phase == Phase::running) state = read(3);

  EXPECT_EQ(state.phase, Phase::ended);
  EXPECT_EQ(state.exit_status, 5);
  EXPECT_EQ(read().out, "up\n");
  EXPECT_TRUE(bench.sh("test -s " + handle.folder + "/program").status == 0);
  EXPECT_TRUE(run_to_end(io, forget_job(node, handle, Deadline::in(20s))));
  EXPECT_EQ(read().phase, Phase::unknown);
}

TEST_F(VirtualNodeJob, IsEndedWhoeverLooksAfterIt) {
  const auto program = ensure();
  ASSERT_TRUE(program && program.assume_value());
  for (const auto& keeper : {*program.assume_value(), std::string{}}) {
    ASSERT_TRUE(start("echo up; sleep 3000", keeper));
    EXPECT_EQ(read().out, "up\n");

    ASSERT_TRUE(run_to_end(io, stop_job(node, handle, Deadline::in(20s))));

    EXPECT_EQ(read(3).phase, Phase::stopped);
    ASSERT_TRUE(run_to_end(io, forget_job(node, handle, Deadline::in(20s))));
  }
}

}  // namespace
}  // namespace cupel::ssh
