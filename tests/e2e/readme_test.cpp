// README's "A real rack, in ten lines", line by line as they stand there: from a fresh prefix to a
// verdict, against a real sshd, a virtual BMC and a real Slurm. Changed are addresses, users and
// files of the site, and of the eight nodes one is left.
#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

/// What stands between ```sh and ``` below the heading.
std::string ten_lines() {
  const auto page = *read_file(SOURCE_DIR "/README.md", 1u << 20);
  constexpr std::string_view kBegin = "```sh\n";
  const auto heading = page.find("## A real rack, in ten lines\n");
  const auto begin = heading == page.npos ? page.npos : page.find(kBegin, heading);
  const auto end = begin == page.npos ? page.npos : page.find("```", begin + kBegin.size());
  if (end == page.npos) throw std::runtime_error{"README.md has lost its ten lines"};
  return page.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

/// Fails the test where the README does not say `from` any more.
void change(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == text.npos) throw std::runtime_error{"README.md does not say: " + from};
  text.replace(at, from.size(), to);
}

/// After each command of cupel its exit status: "STATUS 1 cupel run audit".
std::string telling_statuses(const std::string& script) {
  std::string reported;
  for (const auto line : lines(script)) {
    reported += std::string{line} + "\n";
    const auto words = trimmed(line.substr(0, line.find('#')));
    if (line.starts_with("cupel ")) reported += "echo \"STATUS $? " + std::string{words} + "\"\n";
  }
  return reported;
}

class ReadmeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    if (std::system("command -v nvidia-smi > /dev/null 2>&1") == 0)
      GTEST_SKIP() << "this machine has GPUs: the last line would burn them for an hour";
  }
};

TEST_F(ReadmeTest, LeadsFromAFreshPrefixToAVerdictAboutTheNode) {
  RackSite site{{.nodes = 1, .network = 83}};
  const Sshd sshd;
  const LoopbackSlurm slurm{"a01-n01", "NodeName=a01-n01 CPUs=2 RealMemory=1000 State=UNKNOWN\n"};
  const auto door = site.rack().doors().front();
  const auto access = sshd.access();
  const fs::path prefix{site.file("prefix")};
  const auto installed = run({CMAKE_PROGRAM, "--install", BUILD_DIR, "--prefix", prefix.string()});
  ASSERT_EQ(installed.status, 0) << installed.err;
  // As on a machine that has CUDA: no GPU is there to run it.
  const auto burn = prefix / "libexec/cupel/cupel-burn";
  if (!fs::exists(burn)) std::ofstream{burn} << "#!/bin/sh\nexit 2\n";
  auto script = ten_lines();
  constexpr const char* kSecret = "(umask 077 && cat > bmc-password)";
  change(script, kSecret, "echo " + shell_quoted(door.password) + " | " + kSecret);
  change(script, "scripts/install ", "PATH=" + (prefix / "bin").string() + ":$PATH ");
  change(script, "a01-n[01-08]", "a01-n01");
  change(script, "user: admin", "user: " + door.user);
  change(script, "{address: \"10.0.1.[11-18]\"}",
         "{address: \"" + door.bmc_address + ":" + std::to_string(door.bmc_port) + "\"}");
  change(script, "{address: \"10.0.2.[11-18]\"}",
         "{address: \"127.0.0.1:" + std::to_string(sshd.port()) + "\"}");
  change(script, "user: root, key: /root/.ssh/id_ed25519",
         "user: " + access.user + ", key: \"" + access.key_file + "\"");
  // Nobody comes to mend what is missing, and a machine with Slurm on it is not drained for a test.
  const std::string before =
      "cupel() { case $1 in run) command cupel \"$@\" --wait-for-repair 0s ;;\n"
      "*) command cupel \"$@\" ;; esac; }\n";

  const auto ran = run({"env", "-C", fs::path{site.file("prefix")}.parent_path().string(), "sh",
                        "-c", before + telling_statuses(script)},
                       {"CUPEL_STATE=" + site.file("state"), "SLURM_CONF=" + slurm.configuration()},
                       std::chrono::seconds{300});

  EXPECT_THAT(ran.out, HasSubstr("STATUS 0 cupel inventory check\n")) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("STATUS 0 cupel plan new-rack\n")) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("STATUS 0 cupel bmc all power on\n")) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("STATUS 1 cupel run audit --set wait=20m\n")) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("STATUS 1 cupel run new-rack\n")) << ran.err;
  // This machine is no DGX: the verdicts say so, and name nothing that the controller lacks.
  for (const auto* missing : {"cupel-node", "cupel-burn"})
    EXPECT_THAT(ran.err, Not(HasSubstr(missing)));
  const auto audit = run(
      {(prefix / "bin/cupel").string(), "--state", site.file("state"), "report", "1", "--json"});
  EXPECT_THAT(audit.out, AllOf(HasSubstr("audit: "), Not(HasSubstr("cupel-node is"))));
  const auto hands =
      run({(prefix / "bin/cupel").string(), "--state", site.file("state"), "actions", "2"});
  EXPECT_THAT(hands.out, AllOf(HasSubstr("a01-n01"), HasSubstr("the NVIDIA driver"))) << hands.err;
  EXPECT_EQ(slurm.state("a01-n01"), "drain");
  EXPECT_THAT(slurm.reason("a01-n01"), HasSubstr("cupel: "));
}

}  // namespace
}  // namespace cupel::testing
