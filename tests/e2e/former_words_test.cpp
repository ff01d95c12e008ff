// Former names of commands and options: accepted for one release, with one warning on standard
// error, and offered by neither help nor completion.
#include "orchestrator/cli/former_words.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/child.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FormerWords : public ::testing::Test {
 protected:
  FormerWords() {
    std::string made = (fs::temp_directory_path() / "cupel-words-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~FormerWords() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Ran cupel(const std::vector<std::string>& words) const {
    std::vector<std::string> all{CUPEL_BINARY, "--state", folder.string()};
    all.insert(all.end(), words.begin(), words.end());
    return run(all, {});
  }
  static std::vector<std::string> words_of(const cli::FormerCommand& row, std::string_view name) {
    std::vector<std::string> words{std::string{name}, "--help"};
    if (!row.group.empty()) words.insert(words.begin(), std::string{row.group});
    return words;
  }

  fs::path folder;
};

TEST_F(FormerWords, OfCommandsDoWhatThePresentOnesDoAndWarnOnce) {
  for (const auto& row : cli::kFormerCommands) {
    const auto former = cupel(words_of(row, row.former)), now = cupel(words_of(row, row.now));

    EXPECT_EQ(former.out, now.out) << row.former;
    EXPECT_EQ(former.status, now.status) << row.former;
    EXPECT_EQ(now.err, "") << row.now;
    EXPECT_THAT(former.err, StartsWith("cupel: warning: 'cupel ")) << row.former;
    EXPECT_THAT(former.err, HasSubstr(std::string{row.now} + "'")) << row.former;
    EXPECT_EQ(std::ranges::count(former.err, '\n'), 1) << former.err;
  }
}

TEST_F(FormerWords, OfOptionsAreAcceptedWithAWarning) {
  for (const auto& row : cli::kFormerOptions)
    for (const bool joined : {false, true}) {
      std::vector<std::string> words{"run", "none.yaml"};
      if (joined)
        words.push_back(std::string{row.former} + "=2m");
      else
        words.insert(words.end(), {std::string{row.former}, "2m"});
      const auto ran = cupel(words);

      EXPECT_THAT(ran.err, AllOf(HasSubstr(row.former), HasSubstr(row.now))) << row.former;
      EXPECT_THAT(ran.err, Not(HasSubstr("Run with --help"))) << ran.err;
    }
}

TEST_F(FormerWords, AreOfferedByNeitherHelpNorCompletion) {
  const auto completion = cupel({"completion", "bash"}).out, help = cupel({"run", "--help"}).out;
  for (const auto& row : cli::kFormerOptions)
    for (const auto& text : {completion, help}) {
      EXPECT_THAT(text, Not(HasSubstr(row.former)));
      EXPECT_THAT(text, HasSubstr(row.now));
    }
  for (const auto& row : cli::kFormerCommands) {
    const auto path = "cupel " + std::string{row.group} + (row.group.empty() ? "" : " ");
    EXPECT_THAT(completion, Not(HasSubstr("'" + path + std::string{row.former} + "'")));
    EXPECT_THAT(completion, HasSubstr("'" + path + std::string{row.now} + "'"));
  }
}

TEST_F(FormerWords, AreLeftAloneWhereTheyAreNoCommand) {
  const auto as_value = cupel({"--log", "release", "actions"});
  const auto behind = cupel({"status", "--", "--look-again"});

  EXPECT_THAT(as_value.err, Not(HasSubstr("warning")));
  EXPECT_THAT(behind.err, Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace cupel::testing
