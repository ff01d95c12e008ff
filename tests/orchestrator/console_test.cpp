// Consoles: what is typed, what is shown, what is recorded.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/file.h"
#include "inventory/access.h"
#include "inventory/node.h"
#include "orchestrator/console/console_session.h"
#include "orchestrator/console/recorder.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

namespace cupel::console {
namespace {

using namespace std::chrono_literals;
using cupel::test::FakeLine;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = Typed::Kind;

Error lost() { return Error{Code::kUnreachable, "taken over"}; }

// --- the escape -------------------------------------------------------------

TEST(Escape, MeansSomethingOnlyAtTheBeginningOfALine) {
  Escape escape;

  EXPECT_THAT(escape.feed("ls ~.\r"), ElementsAre(Typed{Kind::bytes, "ls ~.\r"}));
  EXPECT_THAT(escape.feed("~B~."), ElementsAre(Typed{Kind::send_break, ""}, Typed{Kind::end, ""}));
}

TEST(Escape, WorksByteForByteAsAPersonTypes) {
  Escape escape;

  EXPECT_THAT(escape.feed("~"), IsEmpty());
  EXPECT_THAT(escape.feed("?"), ElementsAre(Typed{Kind::help, ""}));
  EXPECT_THAT(escape.feed("~"), IsEmpty());
  EXPECT_THAT(escape.feed("x"), ElementsAre(Typed{Kind::bytes, "~x"}));
}

TEST(Escape, TwiceSendsItOnce) {
  Escape escape;

  EXPECT_THAT(escape.feed("~~."), ElementsAre(Typed{Kind::bytes, "~."}));
}

TEST(Escape, CanBeSwitchedOff) {
  Escape escape{std::nullopt};

  EXPECT_THAT(escape.feed("~."), ElementsAre(Typed{Kind::bytes, "~."}));
}

// --- the log ----------------------------------------------------------------

std::string text_of(const std::vector<LogFile>& files) {
  std::string all;
  for (const auto& each : files) all += read_file(each.file, 1u << 20).value();
  return all;
}

class LogTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder;
  LogLimits small{.beginning = 10, .piece = 10};
};

TEST_F(LogTest, KeepsTheBeginningAndTheEndHoweverMuchComesBetween) {
  BoundedLog log{folder.path() / "run-1", "a01-n01", small};

  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(log.append(std::to_string(i) + " "));

  const auto files = log_files(folder.path() / "run-1", "a01-n01");
  const auto text = text_of(files);
  EXPECT_TRUE(text.starts_with("0 1 2 3 4 ")) << text;
  EXPECT_TRUE(text.ends_with("998 999 ")) << text;
  EXPECT_LE(text.size(), 30);
  EXPECT_GE(text.size(), 20);
}

TEST_F(LogTest, KeepsAPieceLargerThanAllOfIt) {
  BoundedLog log{folder.path(), "n", small};

  ASSERT_TRUE(log.append(std::string(1000, 'x') + "end"));

  const auto text = text_of(log_files(folder.path(), "n"));
  EXPECT_LE(text.size(), 30);
  EXPECT_TRUE(text.ends_with("end"));
}

TEST_F(LogTest, ANodesNameLeadsNowhere) {
  BoundedLog log{folder.path() / "run-1", "../../x", small};

  ASSERT_TRUE(log.append("hello"));

  EXPECT_EQ(log_files(folder.path() / "run-1", "../../x").size(), 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.1.log"));
}

TEST_F(LogTest, MakesItsFolderOnceAndAgainWhereItIsGone) {
  const auto where = folder.path() / "run-1";
  BoundedLog log{where, "n", small};
  const auto opened = std::filesystem::perms::owner_all | std::filesystem::perms::group_read;
  std::error_code failure;

  ASSERT_TRUE(log.append("one"));
  std::filesystem::permissions(where, opened, failure);
  ASSERT_TRUE(log.append("two"));
  EXPECT_EQ(std::filesystem::status(where, failure).permissions(), opened);
  std::filesystem::remove_all(where, failure);
  ASSERT_TRUE(log.append("three"));

  EXPECT_EQ(text_of(log_files(where, "n")), "three");
}

TEST_F(LogTest, SaysThatItCannotBeWritten) {
  ASSERT_TRUE(write_file(folder.path() / "file", "x"));
  BoundedLog log{folder.path() / "file" / "run-1", "n", small};

  EXPECT_EQ(log.append("hello").error().code, Code::kStorage);
}

// --- the recorder -----------------------------------------------------------

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    node.name = "a01-n01";
    node.bmc.ipmi = inventory::IpmiAccess{.endpoint = {"127.0.0.1", 623}};
    machine.by = bmc::Protocol::ipmi;
  }

  /// Until every line has said all that it has, then as a run's end stops it.
  void record_until(std::function<bool()> done) {
    Recording recording;
    recording.nodes = {&node};
    recording.bmc = [this](const inventory::Node&) {
      return std::make_unique<test::FakeBmc>(machine);
    };
    recording.folder = folder.path() / "run-1";
    recording.locks = folder.path() / "locks";
    recording.pauses = {1ms, 4ms};
    const auto ended =
        run_to_end(io, with_deadline(Deadline::in(60s), stop_when(std::move(recording), done)));
    EXPECT_TRUE(ended) << ended.error().what;
  }
  std::string recorded() const { return text_of(log_files(folder.path() / "run-1", node.name)); }

  asio::io_context io;
  test::TemporaryFolder folder;
  inventory::Node node;
  test::FakeMachine machine;

 private:
  static Task<Result<void>> wait_for(std::function<bool()> done) {
    while (!done()) {
      CO_TRY(co_await pause_for(1ms));
    }
    co_return ok();
  }
  static Task<Result<void>> stop_when(Recording recording, std::function<bool()> done) {
    const auto executor = co_await asio::this_coro::executor;
    std::optional<Result<void>> recording_ended;
    std::optional<Result<void>> waited;
    auto race = asio::experimental::make_parallel_group(
        asio::co_spawn(executor,
                       detail::run_into(recording_ended, record_consoles(std::move(recording))),
                       asio::deferred),
        asio::co_spawn(executor, detail::run_into(waited, wait_for(std::move(done))),
                       asio::deferred));
    const auto [order, bug, other_bug] =
        co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    if (order.front() == 0) co_return Error{Code::kFailed, "it ended before it was stopped"};
    co_return ok();
  }
};

TEST_F(RecorderTest, WritesDownWhatTheMachineSaysAndClosesTheConsole) {
  FakeLine line{.says = {std::string{"BIOS\r\n"}, std::string{"login: "}}};
  machine.lines = {&line};

  record_until([&] { return recorded().find("login: ") != std::string::npos; });

  EXPECT_THAT(recorded(), AllOf(HasSubstr("console opened"), HasSubstr("BIOS\r\nlogin: "),
                                HasSubstr("console closed: the run stopped")));
  EXPECT_EQ(line.closed, 1);
  EXPECT_EQ(machine.logged_out, 1);
}

TEST_F(RecorderTest, OpensALostConsoleAgain) {
  FakeLine first{.says = {std::string{"one"}, lost()}};
  FakeLine second{.says = {std::string{"two"}}};
  machine.lines = {&first, &second};

  record_until([&] { return recorded().find("two") != std::string::npos; });

  EXPECT_THAT(recorded(), AllOf(HasSubstr("one"), HasSubstr("console closed: taken over")));
  EXPECT_EQ(first.closed, 1);
  EXPECT_EQ(second.closed, 1);
}

TEST_F(RecorderTest, TriesAgainWhereTheBmcIsBusyAndGivesUpWhereItRefuses) {
  FakeLine line{.says = {std::string{"hello"}}};
  machine.lines = {&line};
  machine.fails.emplace("console", Error{Code::kBusy, "no session free"});
  record_until([&] { return machine.asked.size() >= 3; });
  EXPECT_GE(machine.asked.size(), 3);
  machine.fails.insert_or_assign("console", Error{Code::kRefused, "wrong password"});
  machine.asked.clear();

  record_until([&] { return recorded().find("wrong password") != std::string::npos; });

  EXPECT_EQ(machine.asked.size(), 1) << "a refused password is not tried again";
}

TEST_F(RecorderTest, AsksNothingOfANodeWithoutIpmi) {
  node.bmc.ipmi.reset();
  int looks = 0;

  record_until([&] { return ++looks > 10; });

  EXPECT_THAT(machine.asked, IsEmpty());
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(RecorderTest, StaysAwayWhileSomebodyIsAtTheConsole) {
  FakeLine line{.says = {std::string{"hello"}}};
  machine.lines = {&line};
  std::optional<ConsoleLock> lock{ConsoleLock::take(folder.path() / "locks", node.name).value()};
  int looks = 0;

  record_until([&] { return ++looks > 20; });

  EXPECT_THAT(machine.asked, IsEmpty());
  EXPECT_EQ(ConsoleLock::take(folder.path() / "locks", node.name).error().code, Code::kConflict);
  lock.reset();
  record_until([&] { return recorded().find("hello") != std::string::npos; });
  EXPECT_EQ(machine.asked.size(), 1);
}

TEST_F(RecorderTest, AFullDiskCostsTheRecordingAndNothingElse) {
  ASSERT_TRUE(write_file(folder.path() / "run-1", "in the way"));
  FakeLine line{.says = {std::string{"hello"}}};
  machine.lines = {&line};

  record_until([&] { return line.closed > 0; });

  EXPECT_EQ(line.closed, 1);
}

// --- the conversation -------------------------------------------------------

class TalkTest : public ::testing::Test {
 protected:
  TalkTest() {
    if (::pipe2(in_, O_CLOEXEC) != 0 || ::pipe2(out_, O_CLOEXEC) != 0) std::abort();
    how.in = in_[0];
    how.out = out_[1];
    how.quiet = 20ms;
    how.record = [this](std::string_view bytes) -> Result<void> {
      if (disk_full) return Error{Code::kStorage, "recording stopped: disk full"};
      record += bytes;
      return ok();
    };
  }
  ~TalkTest() override {
    for (const int fd : {in_[0], in_[1], out_[0], out_[1]})
      if (fd >= 0) ::close(fd);
  }

  void type(std::string_view text) {
    ASSERT_EQ(::write(in_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end_input() { ::close(std::exchange(in_[1], -1)); }
  Result<SessionEnd> talk_over() {
    test::FakeConsole console{line};
    return run_to_end(io, with_deadline(Deadline::in(60s), run_console_session(console, how)));
  }
  std::string shown() {
    ::close(std::exchange(out_[1], -1));
    std::string all;
    char piece[4096];
    for (ssize_t size = 0; (size = ::read(out_[0], piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(size));
    return all;
  }

  asio::io_context io;
  FakeLine line;
  ConsoleSession how{};
  std::string record;
  bool disk_full = false;

 private:
  int in_[2] = {-1, -1};
  int out_[2] = {-1, -1};
};

TEST_F(TalkTest, CarriesWhatIsTypedAndWhatIsSaid) {
  line.says = {std::string{"login: "}};
  type("root\r~B~.");

  const auto ended = talk_over();

  EXPECT_EQ(ended.value(), SessionEnd::escape);
  EXPECT_EQ(line.heard, "root\r");
  EXPECT_EQ(line.breaks, 1);
}

TEST_F(TalkTest, AScriptsInputEndsAndTheAnswerIsStillHeard) {
  line.says = {std::string{"\x1b[2Jlogin: "}, std::string{"Password: "}};
  type("root\n");
  end_input();

  const auto ended = talk_over();

  EXPECT_EQ(ended.value(), SessionEnd::input_ended);
  EXPECT_EQ(shown(), "\x1b[2Jlogin: Password: ") << "a terminal's own sequences pass untouched";
  EXPECT_EQ(record, "\x1b[2Jlogin: Password: ");
}

TEST_F(TalkTest, APersonsEndOfInputIsTheEnd) {
  how.interactive = true;
  end_input();

  EXPECT_EQ(talk_over().value(), SessionEnd::input_ended);
}

/// Each of its reads gives up in the moment in which the other half ends.
class SilentConsole final : public bmc::Console {
 public:
  Task<Result<std::string>> read(Deadline) override {
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    co_return Error{Code::kTimeout, "silence"};
  }
  Task<Result<void>> write(std::string, Deadline) override { co_return ok(); }
  Task<Result<void>> send_break(Deadline) override { co_return ok(); }
  Task<void> close() override { co_return; }
};

TEST_F(TalkTest, EndsThoughEveryReadGivesUpInThatMoment) {
  how.interactive = true;
  end_input();
  SilentConsole console;

  const auto ended =
      run_to_end(io, with_deadline(Deadline::in(60s), run_console_session(console, how)));

  EXPECT_EQ(ended.value(), SessionEnd::input_ended);
}

TEST_F(TalkTest, SaysThatTheConsoleWasLost) {
  line.says = {std::string{"hello"}, lost()};

  const auto ended = talk_over();

  EXPECT_EQ(ended.error().code, Code::kUnreachable);
  EXPECT_EQ(shown(), "hello");
}

TEST_F(TalkTest, AFullDiskIsToldOnceAndTheTalkGoesOn) {
  disk_full = true;
  line.says = {std::string{"one "}, std::string{"two"}, lost()};

  ASSERT_FALSE(talk_over());

  EXPECT_EQ(shown(), "\r\n[recording stopped: disk full]\r\none two");
}

TEST_F(TalkTest, TellsWhichEscapesThereAre) {
  type("~?");
  end_input();

  ASSERT_TRUE(talk_over());

  EXPECT_THAT(shown(), AllOf(HasSubstr("~.  end"), HasSubstr("~B  send a break")));
}

}  // namespace
}  // namespace cupel::console
