#include "base/process.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"

namespace cupel {
namespace {

using namespace std::chrono_literals;

Result<ProcessOutcome> run(ProcessRequest request, std::chrono::milliseconds patience = 60s) {
  asio::io_context io;
  return run_to_end(io, run_process(std::move(request), Deadline::in(patience)));
}

Result<ProcessOutcome> shell(const std::string& script, std::chrono::milliseconds patience = 60s) {
  return run({.argv = {"sh", "-c", script}}, patience);
}

TEST(Process, TellsBothOutputsAndTheExitStatus) {
  const auto ran = shell("echo out; echo err >&2; exit 3").value();

  EXPECT_EQ(ran.output, "out\n");
  EXPECT_EQ(ran.error, "err\n");
  EXPECT_EQ(ran.exit_status, 3);
  EXPECT_EQ(shell("kill -9 $$").value().exit_status, 128 + SIGKILL);
}

TEST(Process, GetsItsInputAndEnvironmentAndNoShell) {
  const auto ran = run({.argv = {"cat"}, .input = std::string(1'000'000, 'x')}).value();
  const auto reported =
      run({.argv = {"printenv", "CUPEL_TEST"}, .environment = {"CUPEL_TEST=a b"}});
  const auto plain_words = run({.argv = {"echo", "$HOME; *"}});

  EXPECT_EQ(ran.output.size(), 1'000'000u);
  EXPECT_EQ(reported.value().output, "a b\n");
  EXPECT_EQ(plain_words.value().output, "$HOME; *\n");
}

TEST(Process, KeepsItsInputOpenOnRequest) {
  const auto first =
      run({.argv = {"head", "-n", "1"}, .input = "hello\n", .input_stays_open = true});
  const auto to_its_end = run({.argv = {"cat"}, .input = "x", .input_stays_open = true}, 200ms);

  EXPECT_EQ(first.value().output, "hello\n");
  EXPECT_EQ(to_its_end.error().code, Code::kTimeout);
}

TEST(Process, ASecretInTheInputStandsOnNoCommandLine) {
  const auto ran = run({.argv = {"sh", "-c", "read secret; tr '\\0' ' ' < /proc/$$/cmdline; env"},
                        .input = "hunter2\n"});

  EXPECT_THAT(ran.value().output, ::testing::Not(::testing::HasSubstr("hunter2")));
}

TEST(Process, PrintsNoMoreThanItsLimit) {
  const auto ran = run({.argv = {"yes"}, .output_limit = 1000});

  EXPECT_EQ(ran.error().code, Code::kMalformed);
  EXPECT_THAT(ran.error().what, ::testing::HasSubstr("more than 1000 bytes"));
}

TEST(Process, SaysThatThereIsNoSuchProgram) {
  EXPECT_EQ(run({.argv = {"/no/such/program"}}).error().code, Code::kNotFound);
}

TEST(Process, IsKilledWithAllThatItStartedAtTheDeadline) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto script = "exec 1>&-; exec 2>&-; sleep 30201 & wait";

  EXPECT_EQ(shell(script, 200ms).error().code, Code::kTimeout);

  // Whoever inherited the pipe keeps it open: its end means that nobody is left.
  ::close(ends[1]);
  char nothing = 0;
  pollfd closed{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&closed, 1, 60'000), 1) << "something that it started still lives";
  EXPECT_EQ(::read(ends[0], &nothing, 1), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace cupel
