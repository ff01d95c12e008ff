// Where the service of the package runs, commands of its machine ask it, though no $CUPEL_SERVER
// says so: root's, and those of members of its group.
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "tests/support/child.h"
#include "tests/support/own_host/own_host.h"
#include "tests/support/real_part.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSocket = "/run/cupel/cupel.sock";

/// An empty /run, which this process and its children alone see.
class OwnRun {
 public:
  OwnRun() {
    if (::mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") != 0) throw std::runtime_error{"/run"};
    fs::create_directory("/run/cupel");
  }
  ~OwnRun() { ::umount2("/run", MNT_DETACH); }
  OwnRun(const OwnRun&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;
};

/// A service at the package's socket, whose one playbook asks no machine.
class PackageSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(has_own_host(), "no mount namespace of its own: only root may make one");
    std::string made = (fs::temp_directory_path() / "cupel-package-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    for (const auto* each : {"books", "profiles", "home"}) fs::create_directory(folder_ / each);
    write("inventory.yaml",
          "site: lab\ndefaults: {profile: mine, bmc: {user: a, password: \"cmd:echo x\"}}\nnodes:\n"
          "  - {name: n1, bmc: {address: \"127.0.0.1:9\"}, ssh: {address: \"127.0.0.1:9\"}}\n");
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("books/judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
    write("service.yaml",
          "inventory: inventory.yaml\nplaybooks: books\nusers: [{user: nobody, role: operator}]\n");
    ::chmod(folder_.c_str(), 0755);
    member_ = ::getpwnam("nobody");
    ASSERT_NE(member_, nullptr);
    ASSERT_EQ(::chown(file("home").c_str(), member_->pw_uid, member_->pw_gid), 0);
    own_run_.emplace();
    service_.emplace(std::vector<std::string>{CUPEL_BINARY, "--state", file("state"), "serve",
                                              "--config", file("service.yaml"), "--socket",
                                              kSocket});
    ASSERT_TRUE(service_->wait_for("serving "));
    // As cupel.socket has it.
    ASSERT_EQ(::chown(kSocket, 0, member_->pw_gid), 0);
    ASSERT_EQ(::chmod(kSocket, 0660), 0);
  }
  void TearDown() override {
    if (service_) {
      service_->signal(SIGTERM);
      EXPECT_EQ(service_->wait().status, 0);
    }
    service_.reset();
    own_run_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
    ::chmod(file(name).c_str(), 0644);
  }
  static Ran cupel(std::vector<std::string> words) {
    words.insert(words.begin(), CUPEL_BINARY);
    return run(std::move(words));
  }
  Ran of_member(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"setpriv",
                                 "--reuid=" + std::to_string(member_->pw_uid),
                                 "--regid=" + std::to_string(member_->pw_gid),
                                 "--clear-groups",
                                 "env",
                                 "-C",
                                 file("home"),
                                 "HOME=" + file("home"),
                                 CUPEL_BINARY};
    all.insert(all.end(), words.begin(), words.end());
    return run(std::move(all));
  }

  fs::path folder_;
  const passwd* member_ = nullptr;
  std::optional<OwnRun> own_run_{};
  std::optional<Child> service_{};
};

TEST_F(PackageSocket, IsAskedByCommandsOfRoot) {
  const auto begun = cupel({"run", "judge", "--detach"});
  const auto listed = cupel({"status"});
  const auto of_file = cupel({"run", file("books/judge.yaml")});
  const auto elsewhere = cupel({"run", "judge", "--inventory", file("inventory.yaml")});
  const auto own = cupel({"--state", file("own"), "status"});

  EXPECT_EQ(begun.status, 0) << begun.err;
  EXPECT_THAT(begun.out, HasSubstr("run 1 was submitted, and the service drives it"));
  EXPECT_THAT(listed.out, HasSubstr("judge")) << listed.err;
  EXPECT_EQ(of_file.status, 2);
  EXPECT_THAT(of_file.err,
              AllOf(HasSubstr("a service runs playbooks by their names"), HasSubstr("--state")));
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("a service takes no --inventory"));
  EXPECT_EQ(own.status, 0) << own.err;
  EXPECT_THAT(own.out, Not(HasSubstr("judge"))) << "a folder that is named is meant";
}

TEST_F(PackageSocket, IsAskedByMembersOfItsGroupAndHidesNoRecordsOfTheService) {
  const auto begun = of_member({"run", "judge", "--detach"});
  const auto listed = of_member({"status"});
  const auto copied = of_member({"backup", file("home/copy")});
  const auto own = of_member({"--state", file("home/own"), "status"});

  EXPECT_EQ(begun.status, 0) << begun.err;
  EXPECT_THAT(begun.out, HasSubstr("run 1 was submitted, and the service drives it"));
  EXPECT_THAT(listed.out, HasSubstr("judge")) << listed.err;
  EXPECT_EQ(copied.status, 2) << copied.out;
  EXPECT_THAT(copied.err, AllOf(HasSubstr("sudo cupel backup"), HasSubstr("--state")));
  EXPECT_FALSE(fs::exists(file("home/copy")));
  EXPECT_EQ(own.status, 0) << own.err;
  EXPECT_THAT(own.out, Not(HasSubstr("judge")));

  ASSERT_EQ(::chmod(kSocket, 0600), 0);
  const auto stranger = of_member({"status"});
  EXPECT_EQ(stranger.status, 0) << stranger.err;
  EXPECT_THAT(stranger.out, Not(HasSubstr("judge"))) << "whom the socket does not let in";
}

/// As where the socket has a group of its own (docs/start/first-day.md, 2).
TEST_F(PackageSocket, IsAskedByThoseWhoMayReadNeitherTheInventoryNorItsSecrets) {
  write("bmc-password", "zq7-password\n");
  for (const auto* each : {"inventory.yaml", "service.yaml", "bmc-password"})
    ASSERT_EQ(::chmod(file(each).c_str(), 0600), 0);

  const auto begun = of_member({"run", "judge"});
  const auto shown = of_member({"report", "1"});
  const auto listed = of_member({"status", "--json"});
  const auto read = of_member({"inventory", "check", file("inventory.yaml")});

  EXPECT_EQ(begun.status, 1) << begun.err << "nothing was tested, which proves nothing";
  EXPECT_THAT(shown.out, HasSubstr("run 1 (judge)")) << shown.err;
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_EQ(read.status, 2);
  EXPECT_THAT(read.err, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace cupel::testing
