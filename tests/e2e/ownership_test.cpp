// A controller obeys nothing that another user can write: inventories, profiles, playbooks, state,
// secrets, a rack's folder.
#include <gmock/gmock.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/cupel_binary.h"
#include "tests/support/child.h"

namespace cupel::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uid_t kSomebody = 12345;  // of no account

class OwnershipTest : public ::testing::Test {
 protected:
  OwnershipTest() {
    char name[] = "/tmp/cupel-owned-XXXXXX";
    folder = ::mkdtemp(name);
    write("inventory.yaml",
          "site: lab\ndefaults:\n  profile: mine\n  bmc: {user: admin, password: \"cmd:touch " +
              path("obeyed") +
              "; echo x\"}\nnodes:\n  - {name: n1, bmc: {address: \"127.0.0.1:9\"}, ssh: {address: "
              "\"127.0.0.1:9\"}}\n");
    fs::create_directory(path("profiles"));
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
  }
  ~OwnershipTest() override { fs::remove_all(folder); }

  std::string path(const std::string& file) const { return (folder / file).string(); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream{folder / file} << text;
    mode(file, 0644);
  }
  void mode(const std::string& file, mode_t mode) const {
    ASSERT_EQ(::chmod(path(file).c_str(), mode), 0);
  }
  void give_away(const std::string& file) const {
    ASSERT_EQ(::lchown(path(file).c_str(), kSomebody, kSomebody), 0);
  }
  ProcessOutcome cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--state", path("state")});
    return run_cupel(std::move(words));
  }
  /// The first contact to a BMC, for which the password's command is run.
  ProcessOutcome contact() const {
    return cupel({"bmc", "n1", "power", "--inventory", path("inventory.yaml")});
  }
  void expect_refused(const ProcessOutcome& ran, const std::string& file, int status = 2) const {
    EXPECT_EQ(ran.exit_status, status) << ran.output << ran.error;
    EXPECT_THAT(ran.error, HasSubstr(path(file) + " can be changed by other users"));
    EXPECT_FALSE(fs::exists(path("obeyed"))) << "its command was run";
  }

  fs::path folder;
};

TEST_F(OwnershipTest, AcceptsAnInventoryThatNoOtherUserCanWrite) {
  EXPECT_EQ(cupel({"inventory", "check", path("inventory.yaml")}).exit_status, 0);
  contact();
  EXPECT_TRUE(fs::exists(path("obeyed")));
}

TEST_F(OwnershipTest, RunsNoCommandOfAnInventoryThatOthersCanWrite) {
  mode("inventory.yaml", 0666);
  const auto checked = cupel({"inventory", "check", path("inventory.yaml")});
  expect_refused(checked, "inventory.yaml");
  EXPECT_THAT(checked.error, HasSubstr("chmod go-w " + path("inventory.yaml")));
  expect_refused(contact(), "inventory.yaml");
  const auto planned = cupel({"run", path("judge.yaml"), "--inventory", path("inventory.yaml")});
  expect_refused(planned, "inventory.yaml");
}

TEST_F(OwnershipTest, RunsNoCommandOfAnInventoryWhoseFolderOrProfilesOthersCanWrite) {
  mode("profiles/mine.yaml", 0666);
  expect_refused(contact(), "profiles/mine.yaml");
  mode("profiles/mine.yaml", 0644);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  expect_refused(contact(), "inventory.yaml");
}

TEST_F(OwnershipTest, RunsNoPlaybookThatOthersCanWrite) {
  mode("judge.yaml", 0666);
  expect_refused(cupel({"run", path("judge.yaml"), "--inventory", path("inventory.yaml")}),
                 "judge.yaml");
}

TEST_F(OwnershipTest, TakesNoStateThatOthersCanWrite) {
  fs::create_directory(path("state"));
  mode("state", 0777);
  expect_refused(contact(), "state", 3);
  mode("state", 0755);
  contact();
  struct stat found{};
  ASSERT_EQ(::stat(path("state").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700U);
}

TEST_F(OwnershipTest, ServesNoRackFromAFolderThatOthersCanWrite) {
  fs::create_directory(path("rack"));
  mode("rack", 0777);
  expect_refused(cupel({"rack", "serve", "h100-8", "--folder", path("rack")}), "rack", 3);
  EXPECT_TRUE(fs::is_empty(path("rack")));
}

TEST_F(OwnershipTest, TakesNothingOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  give_away("inventory.yaml");
  const auto refused = contact();
  expect_refused(refused, "inventory.yaml");
  EXPECT_THAT(refused.error, HasSubstr("chown root: " + path("inventory.yaml")));
  ASSERT_EQ(::chown(path("inventory.yaml").c_str(), 0, 0), 0);
  fs::create_directory(path("state"));
  give_away("state");
  const auto of_nobody = contact();
  EXPECT_EQ(of_nobody.exit_status, 3);
  EXPECT_THAT(of_nobody.error, HasSubstr("belongs to user 12345, whom this machine does not know"));
  EXPECT_FALSE(fs::exists(path("obeyed")));
  fs::create_directory(path("rack"));
  give_away("rack");
  expect_refused(cupel({"rack", "serve", "h100-8", "--folder", path("rack")}), "rack", 3);
}

/// A package's service has a user of its own, whose records root works on as that user.
TEST_F(OwnershipTest, RootWorksOnAServicesRecordsAsItsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const auto* service = ::getpwnam("nobody");
  ASSERT_NE(service, nullptr);
  mode(".", 0755);
  fs::create_directory(path("state"));
  mode("state", 0700);
  ASSERT_EQ(::chown(path("state").c_str(), service->pw_uid, service->pw_gid), 0);
  ASSERT_EQ(cupel({"status"}).exit_status, 0);
  ASSERT_EQ(cupel({"image", "list"}).exit_status, 0);

  struct stat made{};
  ASSERT_EQ(::stat(path("state/images").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, service->pw_uid);
  ASSERT_EQ(::stat(path("state/cupel.db").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, service->pw_uid);
  fs::create_directory_symlink(path("state"), path("link"));
  const auto by_link = run_cupel({"--state", path("link"), "status"});
  EXPECT_EQ(by_link.exit_status, 0) << by_link.error;

  // Root owns the secrets, and the service's group may read them.
  write(
      "inventory.yaml",
      "site: lab\ndefaults: {profile: mine}\nnodes:\n  - {name: n1, bmc: {address: 10.0.0.1, user: "
      "a, password: \"file:secret\"}, ssh: {address: 10.0.1.1}}\n");
  write("secret", "x");
  mode("secret", 0640);
  const auto check = [&] { return cupel({"inventory", "check", path("inventory.yaml")}); };
  EXPECT_THAT(check().error, HasSubstr("secret file " + path("secret") +
                                       " cannot be read by nobody: chown root:nogroup " +
                                       path("secret") + " && chmod 640 " + path("secret")));
  ASSERT_EQ(::chown(path("secret").c_str(), 0, service->pw_gid), 0);
  EXPECT_EQ(check().exit_status, 0) << check().error;
  mode("secret", 0644);
  EXPECT_THAT(check().error, HasSubstr("secret file " + path("secret") +
                                       " may be read by others: chown root:nogroup " +
                                       path("secret") + " && chmod 640 " + path("secret")));
}

TEST_F(OwnershipTest, CallsASecretThatTheServiceMayNotSeeNotMissing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const auto* service = ::getpwnam("nobody");
  ASSERT_NE(service, nullptr);
  mode(".", 0755);
  fs::create_directory(path("state"));
  ASSERT_EQ(::chown(path("state").c_str(), service->pw_uid, service->pw_gid), 0);
  write("inventory.yaml",
        "site: lab\ndefaults: {profile: mine}\nnodes:\n  - {name: n1, bmc: {address: 10.0.0.1, "
        "user: a, password: \"file:closed/secret\"}, ssh: {address: 10.0.1.1}}\n");
  fs::create_directory(path("closed"));
  write("closed/secret", "x");
  mode("closed/secret", 0600);
  mode("closed", 0700);

  const auto checked = cupel({"inventory", "check", path("inventory.yaml")});

  EXPECT_EQ(checked.exit_status, 2);
  EXPECT_THAT(checked.error, HasSubstr("secret file " + path("closed/secret") +
                                       " cannot be looked at by nobody: Permission denied: put it "
                                       "into a folder that nobody may enter"));
}

/// A member's own group in its place would take the secret from the service.
TEST_F(OwnershipTest, AdvisesAMemberToGiveASecretToTheGroupOfItsFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto* member = ::getpwnam("nobody");
  const auto* group = ::getgrnam("daemon");
  ASSERT_TRUE(member != nullptr && group != nullptr);
  mode(".", 0755);
  fs::create_directories(path("etc/profiles"));
  ASSERT_EQ(::chown(path("etc").c_str(), 0, group->gr_gid), 0);
  mode("etc", 0750);
  mode("etc/profiles", 0755);
  write("etc/profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
  write("etc/inventory.yaml",
        "site: lab\ndefaults: {profile: mine}\nnodes:\n  - {name: n1, bmc: {address: 10.0.0.1, "
        "user: a, password: \"file:secret\"}, ssh: {address: 10.0.1.1}}\n");
  write("etc/secret", "x");
  mode("etc/secret", 0600);

  const auto checked = testing::run(
      {"setpriv", "--reuid=" + std::to_string(member->pw_uid),
       "--regid=" + std::to_string(member->pw_gid), "--groups=" + std::to_string(group->gr_gid),
       CUPEL_BINARY, "--state", path("own"), "inventory", "check", path("etc/inventory.yaml")});

  EXPECT_EQ(checked.status, 2);
  const auto secret = path("etc/secret");
  EXPECT_THAT(checked.err, HasSubstr("secret file " + secret + " cannot be read by nobody: chown " +
                                     "root:daemon " + secret + " && chmod 640 " + secret));
}

/// The service would judge by other limits than the site's.
TEST_F(OwnershipTest, TakesNoShippedProfileForOneOfTheSiteThatTheServiceMayNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const auto* service = ::getpwnam("nobody");
  ASSERT_NE(service, nullptr);
  mode(".", 0755);
  mode("profiles", 0755);
  fs::create_directory(path("state"));
  ASSERT_EQ(::chown(path("state").c_str(), service->pw_uid, service->pw_gid), 0);
  write("profiles/dgx-h100.yaml", "profile: dgx-h100\npower: {idle: 1, loaded: 2}\n");
  mode("profiles/dgx-h100.yaml", 0600);
  write("inventory.yaml",
        "site: lab\ndefaults: {profile: dgx-h100}\nnodes:\n  - {name: n1, bmc: {address: 10.0.0.1, "
        "user: a, password: \"env:X\"}, ssh: {address: 10.0.1.1}}\n");

  const auto checked = cupel({"inventory", "check", path("inventory.yaml")});

  EXPECT_EQ(checked.exit_status, 2) << checked.output;
  EXPECT_THAT(checked.error,
              AllOf(HasSubstr(path("profiles/dgx-h100.yaml")), HasSubstr("Permission denied")));
}

/// As /root is, before the first inventory is written.
TEST_F(OwnershipTest, ListsShippedProfilesFromAFolderThatTheServiceMayNotEnter) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const auto* service = ::getpwnam("nobody");
  ASSERT_NE(service, nullptr);
  mode(".", 0755);
  fs::create_directory(path("state"));
  ASSERT_EQ(::chown(path("state").c_str(), service->pw_uid, service->pw_gid), 0);
  fs::create_directories(path("closed/profiles"));
  mode("closed", 0700);

  const auto listed = testing::run({"env", "-u", "CUPEL_INVENTORY", "-C", path("closed"),
                                    CUPEL_BINARY, "--state", path("state"), "profile", "list"});

  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("dgx-h100"));
}

TEST_F(OwnershipTest, ChecksSecretsThatAreFilesAllAtOnceAndRunsNoCommandForOthers) {
  write("inventory.yaml",
        "site: lab\ndefaults: {profile: mine}\nnodes:\n"
        "  - {name: n1, bmc: {address: 10.0.0.1, user: a, password: \"file:open\"}, ssh: {address: "
        "10.0.1.1}}\n"
        "  - {name: n2, bmc: {address: 10.0.0.2, user: a, password: \"file:none\"}, ssh: {address: "
        "10.0.1.2}}\n"
        "  - {name: n3, bmc: {address: 10.0.0.3, user: a, password: \"cmd:touch " +
            path("obeyed") + "\"}, ssh: {address: 10.0.1.3}}\n");
  write("open", "secret");

  const auto checked = cupel({"inventory", "check", path("inventory.yaml")});

  EXPECT_EQ(checked.exit_status, 2);
  EXPECT_THAT(checked.error,
              AllOf(HasSubstr("inventory.yaml:4:60: secret file " + path("open") +
                              " may be read by others: chmod 600 " + path("open")),
                    HasSubstr("inventory.yaml:5:60: there is no secret file " + path("none")),
                    HasSubstr("2 errors; nothing was touched")));
  EXPECT_FALSE(fs::exists(path("obeyed")));
}

TEST_F(OwnershipTest, ListsFaultsOfKeysPasswordsAndTheRestAtOnceEachAtItsPlace) {
  write("inventory.yaml",
        "site: lab\ndefaults:\n  profile: mine\n"
        "  bmc: {user: a, password: \"file:open\"}\n"
        "  ssh: {key: none}\n"
        "nodes:\n"
        "  - {name: n1, bmc: {address: 10.0.0.1}, ssh: {address: 10.0.1.1}}\n"
        "  - {name: n2, bmc: {address: 10.0.0.2, password: \"file:nothing\"},\n"
        "     ssh: {address: 10.0.1.2, key: open_key}}\n"
        "  - {name: n3, bmc: {address: 10.0.0.3}, ssh: {address: 10.0.1.3}, colour: red}\n");
  write("open", "secret");
  write("open_key", "secret");

  const auto checked = cupel({"inventory", "check", path("inventory.yaml")});

  EXPECT_EQ(checked.exit_status, 2);
  EXPECT_THAT(checked.error,
              AllOf(HasSubstr("inventory.yaml:4:28: secret file " + path("open") + " may be read"),
                    HasSubstr("inventory.yaml:5:14: key: there is no file " + path("none")),
                    HasSubstr("inventory.yaml:8:51: there is no secret file " + path("nothing")),
                    HasSubstr("inventory.yaml:9:36: secret file " + path("open_key")),
                    HasSubstr("'colour'"), HasSubstr("5 errors; nothing was touched")));
}

}  // namespace
}  // namespace cupel::e2e
