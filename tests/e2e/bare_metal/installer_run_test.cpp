// `cupel run os` with Debian's own installer, on a real machine with real firmware: from power-on
// by UEFI HTTP boot to its answer file and its hello. The machine reaches no mirror, which is the
// end of it, and has to be reported.
#include "tests/e2e/bare_metal/os_run_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPackage = "debian-installer-12-netboot-amd64";
constexpr const char* kFolder =
    "/usr/lib/debian-installer/images/12/amd64/text/debian-installer/amd64/";
constexpr const char* kName = "debian-12-installer";

class InstallerRun : public OsRunBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kFolder),
                          kPackage + std::string{" is not there"});
    OsRunBench::SetUp();
  }
  cupel::testing::Ran keep_installer(const std::string& kernel) const {
    return make_image(
        made.path(),
        {"installer", kName, "--mirror", "http://10.77.0.1:9/debian", "--kernel", kFolder + kernel,
         "--initrd", std::string{kFolder} + "initrd.gz", "--cmdline", "console=ttyS0"});
  }
  void make_machine() {
    const auto kept = keep_installer("linux");
    require(kept.status == 0, kept.out + kept.err);
    std::vector<QemuMachine> machines;
    machines.push_back({.firmware = QemuMachine::Firmware::uefi,
                        .mebibytes = 1024,
                        .disks = {{.serial = disk_of(1), .bytes = 256U << 20}}});
    make_site(std::move(machines));
    start_dhcp();
    std::filesystem::copy(made.path() / "images" / kName, file("images") / kName,
                          std::filesystem::copy_options::recursive);
    installer = images::ImageStore::open(file("images"))->find(kName)->digest();
    write_inventory("ways: [http]");
  }
  bool disk_is_empty() const {
    const auto& machine = rack->machine(1);
    std::ifstream stream{machine.disk_file(machine.disks.front()), std::ios::binary};
    std::string start(1U << 20, 'x');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    return stream && start.find_first_not_of('\0') == start.npos;
  }

  test::TemporaryFolder made{};
  std::string installer;
};

class LongInstallerRun : public InstallerRun {
 protected:
  void SetUp() override {
    if (!mirror_answers()) GTEST_SKIP() << "Debian's mirror is not reachable: no systemd-boot-efi";
    InstallerRun::SetUp();
  }
};

TEST_F(LongInstallerRun, DebiansInstallerTakesItsAnswersSaysHelloAndReportsAMirrorThatIsAway) {
  make_machine();

  const auto ran = cupel({"run", "os", "--set", std::string{"image="} + kName, "--set",
                          "sha256=" + installer, "--no-console", "--wait-for-repair", "0s"});

  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("the installer does not reach its mirror"),
                    HasSubstr("http://10.77.0.1:9/debian/dists/bookworm/Release")))
      << rack->shown(1);
  EXPECT_THAT(rack->shown(1), AllOf(HasSubstr("CUPEL the boot server takes this machine"),
                                    HasSubstr("CUPEL failed mirror")));
  EXPECT_TRUE(disk_is_empty());
}

TEST_F(InstallerRun, WhatIsNoKernelIsNotKept) {
  const auto ran = keep_installer("initrd.gz");

  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("is no kernel that UEFI starts"));
  EXPECT_FALSE(std::filesystem::exists(made.path() / "images" / kName));
}

}  // namespace
}  // namespace cupel::rehearsal
