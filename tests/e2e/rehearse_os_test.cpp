// `cupel rehearse` of machines whose disks are empty: the boot server, the steps and the playbooks
// are as they are shipped; what boots is virtual.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

class RehearseOs : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{folder.path() / name} << text;
    return (folder.path() / name).string();
  }
  Ran rehearse(const std::string& playbook, const std::string& rack,
               std::vector<std::string> more = {}) const {
    std::vector<std::string> words{CUPEL_BINARY,
                                   "rehearse",
                                   playbook,
                                   "--rack",
                                   write("rack.yaml", rack),
                                   "--speed",
                                   "60",
                                   "--folder",
                                   (folder.path() / "stands").string(),
                                   "--wait-for-repair",
                                   "0s"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {}, std::chrono::seconds{600});
  }

  test::TemporaryFolder folder;
};

TEST_F(RehearseOs, InstallsARackWithEmptyDisksAndNamesWhatKeepsAMachineFromIt) {
  std::filesystem::create_directory(folder.path() / "profiles");
  write("profiles/unseeded.yaml",
        "profile: unseeded\nextends: dgx-h100\nos: {seed: no, grow: no}\n");

  const auto ran = rehearse("os",
                            "rack: v01\nprofile: dgx-h100\nnodes: v01-n[1-6]\n"
                            "bmc: 127.64.21.[1-6]\nssh: 127.64.22.[1-6]\nboot: {post: 60s}\n"
                            "profiles: [{nodes: v01-n6, profile: unseeded}]\n"
                            "faults:\n"
                            "  - {node: v01-n2, fault: no-pxe}\n"  // and then the virtual disc
                            "  - {node: v01-n3, fault: nvme-missing, part: nvme0}\n"
                            "  - {node: v01-n4, fault: boot-override-kept}\n"
                            "  - {node: v01-n5, fault: write-interrupted}\n");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("v01-n1 os done: virtual-os is on disk "));
  EXPECT_THAT(ran.out, HasSubstr(", and up, booted by http\n"));
  EXPECT_THAT(ran.out, HasSubstr("v01-n2 os done: "));
  EXPECT_THAT(ran.out, HasSubstr(", and up, booted by media\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("v01-n3 os needs operator: the disk that is to be written is not there"));
  EXPECT_THAT(ran.out,
              HasSubstr("its BMC kept boot target http after the boot; it was taken back\n"));
  EXPECT_THAT(ran.out, HasSubstr("v01-n6 os done: virtual-os is on disk "));
  EXPECT_THAT(ran.out, HasSubstr("no seed was written (os: seed: no)"));
  EXPECT_THAT(ran.out,
              HasSubstr("it went silent while the image was written; it was restarted, and "
                        "began again\n"));
}

TEST_F(RehearseOs, NamesAnOldSystemThatWasPinnedBeforeAndBootsAgain) {
  const auto playbook = write("again.yaml",
                              "playbook: again\nsteps:\n  - step: power-on\n  - step: ssh-wait\n"
                              "  - step: os\n");

  std::filesystem::create_directory(folder.path() / "profiles");
  write("profiles/quick.yaml",
        "profile: quick\nextends: dgx-h100\n"
        "patience: {power_on: 20s, post: 20s, bmc_restart: 20s}\n");

  const auto ran = rehearse(playbook,
                            "rack: v01\nprofile: quick\nnodes: v01-n1\n"
                            "bmc: 127.64.27.1\nssh: 127.64.28.1\nboot: {post: 60s}\n"
                            "faults: [{node: v01-n1, fault: old-system-first}]\n",
                            {"--empty-disks"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("v01-n1 os needs operator: it booted its old system, which still "
                                 "answers SSH, and not the disk that was written"));
}

TEST_F(RehearseOs, NewRackBeginsWithMachinesThatHaveNoOs) {
  const auto playbook = write("begin.yaml",
                              "playbook: begin\nsteps:\n  - step: bmc-facts\n  - step: os\n"
                              "  - step: power-on\n  - step: ssh-wait\n  - stage: node-facts\n"
                              "  - step: verdict\n");

  const auto ran = rehearse(playbook,
                            "rack: v01\nprofile: dgx-h100\nnodes: v01-n1\n"
                            "bmc: 127.64.23.1\nssh: 127.64.24.1\nboot: {post: 60s}\n",
                            {"--empty-disks"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("v01-n1 os done: virtual-os is on disk "));
}

/// Above a minute: for scripts/test --all.
using LongRehearseOs = RehearseOs;

TEST_F(LongRehearseOs, InstallsSixtyFourMachinesAtOnceAndOneFaultStopsNoOther) {
  const auto ran = rehearse("os",
                            "rack: v[01-16]\nprofile: dgx-h100\nnodes: v[01-16]-n[1-4]\n"
                            "bmc: 127.67.[1-16].[1-4]\nssh: 127.68.[1-16].[1-4]\n"
                            "boot: {post: 180s}\n"
                            "faults:\n"
                            "  - {node: v03-n2, fault: nvme-missing, part: nvme0}\n"
                            "  - {node: v09-n4, fault: write-interrupted}\n"
                            "  - {node: v16-n4, fault: nvram-full}\n");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(": 62 pass, 0 fail, 2 inconclusive\n"));
  EXPECT_THAT(ran.out, HasSubstr("v03-n2 os needs operator: the disk that is to be written is not "
                                 "there"));
  EXPECT_THAT(ran.out, HasSubstr("v16-n4 os needs operator: the firmware has no room for a boot "
                                 "entry"));
  EXPECT_THAT(ran.out, HasSubstr("v09-n4 os done: virtual-os is on disk "));
  EXPECT_THAT(ran.out, HasSubstr("began again\n"));
}

}  // namespace
}  // namespace cupel::testing
