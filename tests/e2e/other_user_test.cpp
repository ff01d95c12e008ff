// Another user of a node, who watches the command lines of all processes there and plants folders
// and programs in the way of a stage: a real sshd, a real unprivileged user.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

/// Prints what a finished job prints, in the words of cupel-node, and what nobody measured.
constexpr const char* kEvil = R"sh(#!/bin/sh
id -u >> "$(dirname "$0")/ran-as"
echo '{"kind":"job","state":"ended","exit":0,"out_size":7,"err_size":0,"out_bytes":7,"err_bytes":0}'
echo forged
)sh";

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

/// Every absolute path in a command line whose last part begins as a job's folder does.
std::set<std::string> job_folders_in(const std::string& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  std::set<std::string> folders;
  for (auto at = words.find("/cupel-"); at != words.npos; at = words.find("/cupel-", at + 1)) {
    auto begin = at;
    while (begin > 0 && (words[begin - 1] == '/' || kPlain.contains(words[begin - 1]))) --begin;
    const auto end = std::min(words.find_first_not_of(kPlain, at + 1), words.size());
    const auto folder = words.substr(begin, end - begin);
    if (folder.starts_with('/') && folder.contains("-run")) folders.insert(folder);
  }
  return folders;
}

/// What the attacker does with a name as soon as a command line shows it.
void plant(const std::string& folder, const fs::path& own) {
  std::error_code refused;
  fs::create_directories(folder + "/started", refused);
  std::ofstream{folder + "/program"} << (own / "evil").string() << "\n";
  std::ofstream{folder + "/as"} << "\n";
  std::ofstream{folder + "/boot"} << text_of("/proc/sys/kernel/random/boot_id");
  if (!refused) std::ofstream{own / "planted", std::ios::app} << folder << "\n";
}

[[noreturn]] void watch_and_plant(const fs::path& own) {
  const bool unprivileged =
      ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
  if (!unprivileged || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) ::_exit(1);
  std::set<std::string> seen;
  std::ofstream{own / "watching"} << "yes\n";
  for (;;)
    for (std::error_code gone; const auto& entry : fs::directory_iterator{"/proc", gone}) {
      if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos)
        continue;
      for (const auto& folder : job_folders_in(text_of(entry.path() / "cmdline")))
        if (seen.insert(folder).second) plant(folder, own);
    }
}

class OtherUserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(Sshd::installed(), "openssh-server is not installed");
    CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "another user can be played by root alone");
    CUPEL_NEEDS_REAL_PART(has_own_host(),
                          "no /opt of its own for cupel-node: only root may make one");
    site = std::make_unique<Site>(1, Site::Slurm::none);
    site->write("look.yaml",
                "playbook: look\nsteps:\n  - step: ssh-wait\n  - stage: node-facts\n"
                "  - step: verdict\n");
    char name[] = "/tmp/cupel-other-user-XXXXXX";
    own = ::mkdtemp(name);
    std::ofstream{own / "evil"} << kEvil;
    fs::permissions(own / "evil", fs::perms{0755});
    ASSERT_EQ(::chown(own.c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(::chown((own / "evil").c_str(), kNobody, kNobody), 0);
  }
  void TearDown() override {
    if (attacker > 0) {
      ::kill(attacker, SIGKILL);
      ::waitpid(attacker, nullptr, 0);
    }
    std::istringstream planted{own.empty() ? "" : text_of(own / "planted")};
    std::error_code ignored;
    for (std::string folder; std::getline(planted, folder);) fs::remove_all(folder, ignored);
    if (!own.empty()) fs::remove_all(own, ignored);
  }

  void begin_to_watch() {
    attacker = ::fork();
    if (attacker == 0) watch_and_plant(own);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!fs::exists(own / "watching") && std::chrono::steady_clock::now() < end)
      ASSERT_EQ(::waitpid(attacker, nullptr, WNOHANG), 0);
    ASSERT_TRUE(fs::exists(own / "watching"));
  }

  std::unique_ptr<Site> site{};
  fs::path own{};
  pid_t attacker = -1;
};

TEST_F(OtherUserTest, OfANodeCannotRunProgramsAsRootNorForgeAResult) {
  begin_to_watch();

  const auto ran = site->run({"run", "look.yaml", "--json"});

  EXPECT_EQ(text_of(own / "ran-as"), "") << "the other user's program ran as this user id";
  EXPECT_EQ(text_of(own / "planted"), "") << "the other user made a job's folder first";
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(R"("verdict":"pass")"), Not(HasSubstr("forged"))));
}

}  // namespace
}  // namespace cupel::testing
