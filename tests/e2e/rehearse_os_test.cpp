// `cupel rehearse` of machines whose disks are empty: the boot server, the steps and the playbooks
// are as they are shipped; what boots is virtual.
#include <fmt/format.h>

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
  const auto ran = rehearse("os",
                            "rack: v01\nprofile: dgx-h100\nnodes: v01-n[1-3]\n"
                            "bmc: 127.64.21.[1-3]\nssh: 127.64.22.[1-3]\nboot: {post: 60s}\n"
                            "faults:\n"
                            "  - {node: v01-n2, fault: no-pxe}\n"  // and then the virtual disc
                            "  - {node: v01-n3, fault: nvme-missing, part: nvme0}\n");

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("v01-n1 os done: virtual-os is on disk "));
  EXPECT_THAT(ran.out, HasSubstr(", and up, booted by http\n"));
  EXPECT_THAT(ran.out, HasSubstr("v01-n2 os done: "));
  EXPECT_THAT(ran.out, HasSubstr(", and up, booted by media\n"));
  EXPECT_THAT(ran.out,
              HasSubstr("v01-n3 os needs operator: the disk that is to be written is not there"));
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

}  // namespace
}  // namespace cupel::testing
