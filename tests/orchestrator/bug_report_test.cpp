// What NVIDIA's tool writes on a node, fetched through this machine's own shell. The tool is a
// stand-in that writes its file as the real one does, with and without gzip.
#include "orchestrator/rma/bug_report.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::rma {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A node whose programs are this machine's, and those in a folder.
class Here final : public ssh::Session {
 public:
  explicit Here(fs::path folder) : folder_{std::move(folder)} {
    fs::create_directories(programs());
    fs::create_directories(temporary());
  }
  fs::path programs() const { return folder_ / "bin"; }
  fs::path temporary() const { return folder_ / "tmp"; }

  void tool(const std::string& script) const {
    const auto path = programs() / "nvidia-bug-report.sh";
    EXPECT_TRUE(write_file(path.string(), "#!/bin/sh\n" + script, 0700));
  }

  Task<Result<ssh::CommandOutcome>> run(std::string command, std::string input, ssh::Sink sink,
                                        Deadline) override {
    const auto file = (folder_ / "input").string();
    EXPECT_TRUE(write_file(file, input, 0600));
    const auto ran = testing::run(
        {"sh", "-c", "exec <" + shell_quoted(file) + "; " + command},
        {"PATH=" + programs().string() + ":/usr/bin:/bin", "TMPDIR=" + temporary().string()});
    sink(ssh::Stream::out, ran.out);
    sink(ssh::Stream::err, ran.err);
    co_return ssh::CommandOutcome{ran.status};
  }

 private:
  fs::path folder_;
};

class BugReport : public ::testing::Test {
 protected:
  Result<std::optional<std::string>> fetched() {
    asio::io_context io{1};
    return run_to_end(io, nvidia_bug_report(node, false, Deadline::in(std::chrono::seconds{60})));
  }
  test::TemporaryFolder folder{};
  Here node{folder.path()};
};

TEST_F(BugReport, IsUnpackedAndLeavesNothingOnTheNode) {
  node.tool(
      "[ \"$1\" = --output-file ] || exit 1\necho running\n"
      "printf 'Start of NVIDIA bug report\\n\\303\\n' >\"$2\"; gzip \"$2\"\n");

  const auto report = fetched();

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(*report, "Start of NVIDIA bug report\n\xc3\n");
  EXPECT_TRUE(fs::is_empty(node.temporary()));
}

TEST_F(BugReport, IsTakenAsItIsFromANodeWithoutGzip) {
  node.tool("echo report >\"$2\"\n");

  EXPECT_EQ(fetched().value(), "report\n");
}

TEST_F(BugReport, IsNoneOfANodeWithoutTheTool) {
  const auto report = fetched();

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(*report, std::nullopt);
}

TEST_F(BugReport, SaysWhyTheToolWroteNone) {
  node.tool("echo 'ERROR: Please run nvidia-bug-report.sh as root.'; exit 1\n");

  const auto report = fetched();

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kFailed);
  EXPECT_THAT(report.error().what, HasSubstr("Please run nvidia-bug-report.sh as root"));
}

TEST_F(BugReport, IsRefusedWhereItCameInHalf) {
  node.tool("echo report | gzip | head -c 12 >\"$2.gz\"\n");

  const auto report = fetched();

  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr("what nvidia-bug-report.sh wrote"));
}

}  // namespace
}  // namespace cupel::rma
