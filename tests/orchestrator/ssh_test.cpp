#include "orchestrator/ssh/ssh.h"

#include <poll.h>

#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "base/text.h"
#include "orchestrator/ssh/remote_process.h"
#include "tests/orchestrator/node.h"
#include "tests/support/child.h"

namespace cupel::ssh {
namespace {

using cupel::testing::processes_with;

using SshTest = OnANode;

std::string whole(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 12345;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

/// No process with `text` in its command line lives any more, or a minute has passed.
bool all_gone(const std::string& text) {
  const auto end = Deadline::in(60s);
  while (!end.passed())
    if (processes_with(text).empty()) return true;
  return false;
}

TEST_F(SshTest, RunsACommandAndTellsItsExitStatus) {
  const auto on = session();

  EXPECT_EQ(run(*on, "true").value().outcome.exit_status, 0);
  EXPECT_EQ(run(*on, "exit 7").value().outcome.exit_status, 7);
  EXPECT_EQ(run(*on, "no-such-command-here").value().outcome.exit_status, 127);
}

TEST_F(SshTest, KeepsOutputAndErrorsApartAndWhole) {
  const auto on = session();

  const auto ran = run(*on, "echo to out; echo to err >&2; printf 'no end'; printf x >&2").value();

  EXPECT_EQ(ran.out, "to out\nno end");
  EXPECT_EQ(ran.err, "to err\nx");
}

TEST_F(SshTest, TellsTheSignalThatEndedACommand) {
  const auto on = session();

  EXPECT_EQ(run(*on, "kill -KILL $$").value().outcome.exit_signal, "KILL");
}

TEST_F(SshTest, StreamsAMegabyteByteForByte) {
  const auto on = session();
  const auto bytes = noise(1'000'000);
  std::ofstream{sshd_->file("megabyte"), std::ios::binary} << bytes;

  EXPECT_EQ(run(*on, "cat " + sshd_->file("megabyte")).value().out, bytes);
}

TEST_F(SshTest, FeedsStandardInputAndItsEnd) {
  const auto on = session();
  const auto bytes = noise(3'000'000);

  const auto ran = run(*on, "cat", bytes).value();

  EXPECT_EQ(ran.out, bytes);
  EXPECT_EQ(run(*on, "wc -c").value().out, "0\n");
}

TEST_F(SshTest, SurvivesACommandThatDoesNotReadItsInput) {
  const auto on = session();

  EXPECT_EQ(run(*on, "exit 3", noise(8'000'000)).value().outcome.exit_status, 3);
  EXPECT_EQ(run(*on, "echo still here").value().out, "still here\n");
}

TEST_F(SshTest, ADeadlineEndsTheWholeProcessGroupOnTheNode) {
  const auto on = session();

  const auto ran = run(*on, "sleep 10001 & sleep 10002", {}, 300ms);

  EXPECT_EQ(ran.error().code, Code::kTimeout);
  EXPECT_TRUE(processes_with("sleep 1000").empty());
  EXPECT_EQ(run(*on, "echo still here").value().out, "still here\n");
}

TEST_F(SshTest, ADeadlineEndsEvenWhatIgnoresTerm) {
  const auto on = session();

  const auto ran = run(*on, "trap '' TERM; sleep 10011 & sleep 10012", {}, 300ms);

  EXPECT_EQ(ran.error().code, Code::kTimeout);
  EXPECT_TRUE(all_gone("sleep 1001"));
}

/// Starts a command, and cancels it as soon as it has said a word.
Task<Result<CommandOutcome>> cancel_at_first_word(Session& on, std::string command) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer first_word{executor, asio::steady_timer::time_point::max()};
  const Sink sink = [&first_word](Stream, std::string_view) { first_word.cancel(); };
  std::optional<Result<CommandOutcome>> slot;
  auto work = on.run(std::move(command), {}, sink, Deadline::in(60s));
  auto race = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::run_into(slot, std::move(work)), asio::deferred),
      first_word.async_wait(asio::deferred));
  co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  co_return std::move(*slot);
}

TEST_F(SshTest, CancellingEndsTheWholeProcessGroupOnTheNode) {
  const auto on = session();

  auto work = cancel_at_first_word(*on, "echo here; sleep 10021 & sleep 10022");
  const auto outcome = run_to_end(io, std::move(work));

  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  EXPECT_TRUE(processes_with("sleep 1002").empty());
}

TEST_F(SshTest, PinsTheHostKeyOnFirstUse) {
  session();

  const auto listed = run(*session(), "ssh-keygen -lf " + sshd_->file("host.pub")).value().out;

  ASSERT_TRUE(known.pins.contains("ssh:a01-n01"));
  EXPECT_NE(listed.find(known.pins["ssh:a01-n01"]), listed.npos) << listed;
}

TEST_F(SshTest, RefusesAHostKeyThatHasChanged) {
  known.pin("ssh:a01-n01", "SHA256:another");

  const auto refused = try_connect(sshd_->access());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUntrusted);
  EXPECT_NE(refused.error().what.find("pinned is SHA256:another. If this was meant, run: cupel "
                                      "exec --accept-host-key a01-n01"),
            std::string::npos)
      << refused.error().what;
  EXPECT_EQ(known.pins["ssh:a01-n01"], "SHA256:another");
}

TEST_F(SshTest, ComparesWithTheFingerprintInTheInventory) {
  session();
  auto access = sshd_->access();
  access.trust = {inventory::Trust::Kind::pinned, known.pins["ssh:a01-n01"]};
  EXPECT_TRUE(try_connect(access));

  access.trust.what = "SHA256:written";

  EXPECT_EQ(try_connect(access).error().code, Code::kUntrusted);
}

TEST_F(SshTest, IsRefusedWithAKeyThatTheNodeDoesNotKnow) {
  auto access = sshd_->access();
  access.key_file = sshd_->strange_key();

  EXPECT_EQ(try_connect(access).error().code, Code::kRefused);
}

TEST_F(SshTest, GetsInWithAKeyOfTheAgent) {
  const auto socket = sshd_->file("agent");
  testing::Child agent{{"ssh-agent", "-D", "-a", socket}};
  ASSERT_TRUE(agent.wait_for("SSH_AUTH_SOCK"));
  auto access = sshd_->access();
  const auto added = testing::run({"ssh-add", access.key_file}, {"SSH_AUTH_SOCK=" + socket});
  ASSERT_EQ(added.status, 0) << added.err;
  access.key_file.clear();

  ::setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
  const bool with_agent = try_connect(access).has_value();
  ::unsetenv("SSH_AUTH_SOCK");
  const auto without = try_connect(access);

  EXPECT_TRUE(with_agent);
  EXPECT_NE(without.error().what.find("SSH_AUTH_SOCK"), std::string::npos) << without.error().what;
}

TEST_F(SshTest, SaysWhatIsWrongWithAKeyFile) {
  auto access = sshd_->access();
  access.key_file = sshd_->file("absent");
  EXPECT_EQ(try_connect(access).error().code, Code::kRefused);

  access.key_file = sshd_->file("locked");
  const auto make = "ssh-keygen -q -t ed25519 -N secret -f " + access.key_file;
  ASSERT_EQ(std::system(make.c_str()), 0);
  const auto locked = try_connect(access);

  EXPECT_EQ(locked.error().code, Code::kRefused);
  EXPECT_NE(locked.error().what.find("ssh-add"), std::string::npos) << locked.error().what;
}

TEST_F(SshTest, CannotReachAPortWhereNobodyListens) {
  auto access = sshd_->access();
  access.endpoint.port = 1;

  EXPECT_EQ(try_connect(access).error().code, Code::kUnreachable);
}

TEST_F(SshTest, GivesUpOnAServerThatNeverSpeaks) {
  asio::ip::tcp::acceptor silent{io, {asio::ip::address_v4::loopback(), 0}};
  auto access = sshd_->access();
  access.endpoint.port = silent.local_endpoint().port();

  const auto result = run_to_end(io, connect("a01-n01", access, known, Deadline::in(200ms)));

  EXPECT_EQ(result.error().code, Code::kTimeout);
}

TEST_F(SshTest, SendsTwentyMegabytesOfInput) {
  const auto on = session();
  const auto bytes = noise(20'000'000);
  const auto file = sshd_->file("large");

  const auto ran = run(*on, "cat > " + file, bytes);

  ASSERT_TRUE(ran) << ran.error().what;
  EXPECT_TRUE(whole(file) == bytes);
}

TEST_F(SshTest, TellsWhenTheNodeDiesInTheMiddle) {
  cupel::testing::Sshd doomed;
  auto on = run_to_end(io, connect("a01-n09", doomed.access(), known, Deadline::in(60s))).value();
  const Sink crash = [&doomed](Stream, std::string_view) { doomed.crash(); };

  const auto outcome =
      run_to_end(io, on->run("echo alive; sleep 10031", {}, crash, Deadline::in(60s)));

  EXPECT_EQ(outcome.error().code, Code::kUnreachable);
  EXPECT_EQ(run(*on, "true").error().code, Code::kUnreachable);
  for (const auto pid : processes_with("sleep 10031")) ::kill(pid, SIGKILL);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(SshTest, LeavesNoDescriptorOpenHoweverASessionEnds) {
  session();
  const auto before = open_descriptors();

  run(*session(), "true").value();
  run(*session(), "sleep 20111", {}, 200ms).error();
  auto nobody = sshd_->access();
  nobody.key_file = sshd_->strange_key();
  EXPECT_FALSE(try_connect(nobody));

  EXPECT_EQ(open_descriptors(), before);
}

/** A signal is sent before it is obeyed: the pipe hangs up once the last process of the group is
 * gone. */
bool all_writers_gone(int pipe) {
  pollfd end{.fd = pipe, .events = 0, .revents = 0};
  return ::poll(&end, 1, 60'000) == 1 && (end.revents & POLLHUP) != 0;
}

TEST(Killing, EndsTheGroupWhateverTheLoginShellIs) {
  for (const std::string shell : {"dash", "bash", "busybox ash"}) {
    if (std::system(("command -v " + shell.substr(0, shell.find(' ')) + " > /dev/null").c_str()))
      continue;
    auto* pipe = ::popen("setsid sh -c 'echo $$; exec sleep 20101'", "r");
    long group = 0;
    ASSERT_EQ(std::fscanf(pipe, "%ld", &group), 1);

    std::ignore = std::system((shell + " -c " + shell_quoted(killing(group))).c_str());

    EXPECT_TRUE(all_writers_gone(::fileno(pipe))) << shell;
    EXPECT_TRUE(cupel::testing::processes_with("sleep 20101").empty()) << shell;
    ::kill(static_cast<pid_t>(-group), SIGKILL);
    ::pclose(pipe);
  }
}

}  // namespace
}  // namespace cupel::ssh
