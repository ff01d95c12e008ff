#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/json.h"

namespace cupel::log {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cupel-log-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    off();
    use(Form::text);
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path file() const { return folder_ / "cupel.log"; }
  std::string lines() const { return read_file(file(), 1u << 20).value_or(""); }

  std::filesystem::path folder_;
};

TEST_F(LogTest, WritesTimeLevelRunNodeAndStepOnEachLine) {
  ASSERT_TRUE(to_file(file()));

  info({.run = 12, .node = "a01-n07", .step = "gemm"}, "step-ended", "done: 81 GiB");
  warning({.run = 12}, "run-halted", "3 of 3 failed");
  error({}, "store", "no space");

  const std::string time = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";
  EXPECT_THAT(lines(), MatchesRegex(time +
                                    " info run=12 node=a01-n07 step=gemm step-ended: done: "
                                    "81 GiB\n" +
                                    time +
                                    " warning run=12 node=- step=- run-halted: 3 of 3 "
                                    "failed\n" +
                                    time + " error run=- node=- step=- store: no space\n"));
}

TEST_F(LogTest, WaitsForNoReaderOfAPipe) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);

  const auto logged = to_file(file());

  ASSERT_FALSE(logged);
  EXPECT_EQ(logged.error().code, Code::kStorage);
  EXPECT_FALSE(is_on());
}

TEST_F(LogTest, WritesAnObjectPerLineWhereAskedTo) {
  ASSERT_TRUE(to_file(file()));

  use(Form::json);
  warning({.run = 12, .node = "a01-n07"}, "run-halted", "\"3\" of 3\n\xff failed");
  use(Form::text);
  info({}, "plain", "again");

  const auto written = lines();
  const auto end = written.find('\n');
  const auto object = parse_json(std::string_view{written}.substr(0, end));
  ASSERT_TRUE(object) << written;
  EXPECT_EQ(object->at("level"), "warning");
  EXPECT_EQ(object->at("event"), "run-halted");
  EXPECT_EQ(object->at("run"), 12);
  EXPECT_EQ(object->at("node"), "a01-n07");
  EXPECT_FALSE(object->as_object().contains("step"));
  EXPECT_THAT(std::string{object->at("text").as_string()}, HasSubstr("\"3\" of 3"));
  EXPECT_THAT(std::string{object->at("time").as_string()},
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z"));
  EXPECT_THAT(written.substr(end + 1),
              MatchesRegex("[-0-9:.TZ]+ info run=- node=- step=- plain: again\n"));
}

TEST_F(LogTest, KeepsOneLineWhateverATextHolds) {
  ASSERT_TRUE(to_file(file()));

  warning({.run = 1, .node = "a01\nn07", .step = "\x1b[2J"}, "step-ended", "a\r\nb\x1b[31m\x07 c");

  const auto written = lines();
  EXPECT_EQ(std::ranges::count(written, '\n'), 1);
  EXPECT_EQ(written.find('\x1b'), written.npos);
  EXPECT_EQ(written.find('\r'), written.npos);
}

TEST_F(LogTest, AppendsToAFileThatOnlyItsOwnerReads) {
  ASSERT_TRUE(to_file(file()));
  info({}, "first", "1");
  off();
  info({}, "lost", "2");
  ASSERT_TRUE(to_file(file()));
  info({}, "third", "3");

  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(lines(), AllOf(HasSubstr("first: 1"), HasSubstr("third: 3"),
                             ::testing::Not(HasSubstr("lost"))));
}

TEST_F(LogTest, RefusesASymbolicLinkAndStaysAsItWas) {
  ASSERT_TRUE(to_file(file()));
  std::filesystem::create_symlink(file(), folder_ / "link");

  const auto refused = to_file(folder_ / "link");
  info({}, "still", "here");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kStorage);
  EXPECT_THAT(lines(), HasSubstr("still: here"));
}

/// Standard error as a file of the folder, for as long as this lives.
class ErrorInFile {
 public:
  explicit ErrorInFile(const std::filesystem::path& file) : before_{::dup(STDERR_FILENO)} {
    std::FILE* opened = std::fopen(file.c_str(), "w");
    ::dup2(::fileno(opened), STDERR_FILENO);
    std::fclose(opened);
  }
  ErrorInFile(const ErrorInFile&) = delete;
  ErrorInFile& operator=(const ErrorInFile&) = delete;
  ~ErrorInFile() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

TEST_F(LogTest, GivesJournaldThePriorityInFrontAndNoTime) {
  {
    const ErrorInFile captured{file()};
    struct stat status{};
    ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
    const auto stream = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
    ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
    to_stderr();
    warning({.run = 12}, "run-halted", "look");
    ::setenv("JOURNAL_STREAM", "1:2", 1);
    to_stderr();
    info({.run = 12}, "run-ended", "plain");
    ::unsetenv("JOURNAL_STREAM");
  }

  EXPECT_THAT(lines(), MatchesRegex("<4>run=12 node=- step=- run-halted: look\n"
                                    "[-0-9:.TZ]+ info run=12 node=- step=- run-ended: plain\n"));
}

TEST_F(LogTest, LosesALineThatCannotBeWrittenAndGoesOn) {
  ASSERT_TRUE(to_file("/dev/full"));

  info({}, "first", "lost");

  EXPECT_TRUE(is_on());
}

}  // namespace
}  // namespace cupel::log
