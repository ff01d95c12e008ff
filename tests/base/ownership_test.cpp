#include "base/ownership.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace cupel {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kSomebody = 12345;  // of no account

class OwnershipTest : public ::testing::Test {
 protected:
  OwnershipTest() {
    char name[] = "/tmp/cupel-owner-XXXXXX";
    folder_ = ::mkdtemp(name);
    file_ = folder_ / "a" / "b.yaml";
    fs::create_directory(folder_ / "a");
    std::ofstream{file_} << "x";
    mode(folder_ / "a", 0755);
    mode(file_, 0644);
  }
  ~OwnershipTest() override { fs::remove_all(folder_); }

  static void mode(const fs::path& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  static void give_away(const fs::path& path) {
    ASSERT_EQ(::lchown(path.c_str(), kSomebody, kSomebody), 0) << path;
  }
  static std::string fault(const fs::path& path) {
    const auto checked = check_ownership(path);
    return checked ? "none" : checked.error().what;
  }

  fs::path folder_, file_;
};

TEST_F(OwnershipTest, AcceptsAFileUnderTmpThatNoOtherUserCanWrite) {
  EXPECT_EQ(fault(file_), "none");
  EXPECT_EQ(fault(folder_), "none");
  EXPECT_EQ(fault("/"), "none");
  EXPECT_EQ(fault(folder_ / "not" / "there"), "none") << "whoever opens it says that";
  EXPECT_EQ(fault(folder_ / "a" / ".." / "a" / "b.yaml"), "none");
}

TEST_F(OwnershipTest, RefusesAFileThatAllMayWriteAndSaysTheCommand) {
  mode(file_, 0666);

  EXPECT_THAT(
      fault(file_),
      AllOf(HasSubstr(file_.string() + " can be changed by other users: owner "),
            HasSubstr(", mode 0666; look at what it says, then: chmod go-w " + file_.string())));
  EXPECT_EQ(check_ownership(file_).error().code, Code::kInvalid);
}

TEST_F(OwnershipTest, RefusesAFolderOnTheWayThatAllMayWriteUnlessItIsSticky) {
  mode(folder_ / "a", 0777);
  EXPECT_THAT(fault(file_), AllOf(HasSubstr(file_.string() + " can be changed by other users (" +
                                            (folder_ / "a").string() + " is on the way)"),
                                  HasSubstr("chmod go-w " + (folder_ / "a").string())));
  EXPECT_THAT(fault(folder_ / "a" / "new"), HasSubstr("is on the way")) << "not made yet";

  mode(folder_ / "a", 01777);
  EXPECT_EQ(fault(file_), "none");
}

TEST_F(OwnershipTest, FollowsLinksAndChecksWhereTheyLead) {
  fs::create_symlink("../a/b.yaml", folder_ / "a" / "link");
  fs::create_symlink(folder_ / "a", folder_ / "way");
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_EQ(fault(folder_ / "way" / "link"), "none");

  mode(file_, 0646);

  EXPECT_THAT(fault(folder_ / "way" / "link"),
              HasSubstr("(" + file_.string() + " is on the way): owner"));
  EXPECT_THAT(fault(folder_ / "circle"), HasSubstr("too many symbolic links"));
}

TEST_F(OwnershipTest, RefusesWhatIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  give_away(file_);
  EXPECT_THAT(fault(file_),
              AllOf(HasSubstr("owner user 12345, mode 0644"), HasSubstr("chown root: ")));
  mode(file_, 0664);
  EXPECT_THAT(fault(file_), HasSubstr("then: chown root: " + file_.string() + " && chmod go-w " +
                                      file_.string()));
  EXPECT_EQ(::lchown(file_.c_str(), 0, kSomebody), 0);
  EXPECT_THAT(fault(file_), HasSubstr("owner root, mode 0664")) << "a group of others";
  mode(file_, 0644);
  EXPECT_EQ(fault(file_), "none");
  give_away(folder_ / "a");
  EXPECT_THAT(fault(file_), HasSubstr((folder_ / "a").string() + " is on the way"));
  ASSERT_EQ(::lchown((folder_ / "a").c_str(), 65534, 65534), 0);
  EXPECT_THAT(fault(file_), AllOf(HasSubstr("work as nobody (runuser -u nobody -- cupel ...)"),
                                  Not(HasSubstr("chown"))))
      << "it may be a service's own";
}

TEST_F(OwnershipTest, RefusesALinkThatIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  fs::create_symlink(file_, folder_ / "link");
  EXPECT_EQ(fault(folder_ / "link"), "none");

  give_away(folder_ / "link");

  EXPECT_THAT(fault(folder_ / "link"), HasSubstr("owner user 12345"));
}

}  // namespace
}  // namespace cupel
