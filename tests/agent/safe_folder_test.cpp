// cupel-node and job folders that another user of the node could have touched: none is used.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/captures.h"
#include "tests/support/real_part.h"

namespace cupel::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct NodeReply {
  int status = 0;
  std::string words;
};

NodeReply cupel_node(const std::string& words) {
  NodeReply reply;
  auto* stream = ::popen((NODE_BINARY " " + words + " 2>&1").c_str(), "re");
  char piece[4096];
  while (const auto got = std::fread(piece, 1, sizeof piece, stream))
    reply.words.append(piece, got);
  reply.status = WEXITSTATUS(::pclose(stream));
  return reply;
}

class NodeJobFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "started");
    for (const auto& each : {parent, folder}) fs::permissions(each, fs::perms::owner_all);
  }
  /// Each subcommand refuses, and names `what` and what was found.
  void expect_refused(const fs::path& what, const std::string& found) const {
    const auto at = " --folder " + folder.string();
    for (const auto& words :
         {"start job" + at + " --limit 60 -- touch " + (base.path() / "ran").string(), "tail" + at,
          "stop" + at, "tell" + at + " < /dev/null", "forget" + at}) {
      const auto reply = cupel_node(words);

      EXPECT_EQ(reply.status, 73) << words << ": " << reply.words;
      EXPECT_THAT(reply.words, AllOf(HasSubstr(what.string() + " is "), HasSubstr(found),
                                     HasSubstr("set it right or remove it")))
          << words;
    }
    EXPECT_EQ(cupel_node("list --base " + parent.string()).words, "");
    EXPECT_FALSE(fs::exists(base.path() / "ran"));
    EXPECT_FALSE(fs::exists(folder / "word"));
  }

  test::TemporaryFolder base{};
  fs::path parent = base.path() / "jobs";
  fs::path folder = parent / "one";
};

TEST_F(NodeJobFolder, IsRefusedWhereOthersMayEnterTheOneAboveIt) {
  fs::permissions(parent, fs::perms{0755});

  expect_refused(parent, "mode 0755");
}

TEST_F(NodeJobFolder, IsRefusedWhereOthersMayEnterIt) {
  fs::permissions(folder, fs::perms{0750});

  expect_refused(folder, "mode 0750");
}

TEST_F(NodeJobFolder, IsRefusedWhereItOrTheOneAboveItIsALink) {
  fs::rename(folder, parent / "other");
  fs::create_directory_symlink("other", folder);

  expect_refused(folder, "a symbolic link");

  fs::remove(folder);
  fs::rename(parent / "other", folder);
  fs::rename(parent, base.path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", parent);

  expect_refused(parent, "a symbolic link");
}

TEST_F(NodeJobFolder, IsNotMadeBehindALink) {
  fs::remove_all(parent);
  fs::create_directory(base.path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", parent);

  const auto reply = cupel_node("start job --folder " + folder.string() + " --limit 60 -- true");

  EXPECT_EQ(reply.status, 73) << reply.words;
  EXPECT_TRUE(fs::is_empty(base.path() / "elsewhere"));
}

TEST_F(NodeJobFolder, IsRefusedWhereOthersMayWriteToAFolderFurtherUp) {
  fs::permissions(base.path(), fs::perms{0777});

  expect_refused(base.path(), "mode 0777");
}

TEST_F(NodeJobFolder, IsRefusedWhereAnotherUserOwnsItOrAParent) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "only root may give a folder away");
  for (const auto& given : {folder, parent, base.path()}) {
    ASSERT_EQ(::chown(given.c_str(), 65534, 65534), 0);

    expect_refused(given, "of user 65534");

    ASSERT_EQ(::chown(given.c_str(), 0, 0), 0);
  }
}

}  // namespace
}  // namespace cupel::agent
