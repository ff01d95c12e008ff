// What the RAM system is built from holds what its boot client asks for.
#include <gmock/gmock.h>

#include "base/text.h"
#include "burnin/agent/node/boot/partition_table.h"
#include "tests/agent/boot_image.h"

namespace cupel::agent::boot {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string ram_file(const std::string& name) {
  return file_bytes(SOURCE_DIR "/burnin/ram/" + name);
}

TEST(RamFiles, HaveADriverOfEachFileSystemThatIsGrownAndMounted) {
  for (const auto file_system : kFileSystems)
    for (const auto* list : {"modules", "root/etc/cupel/modules.sh"})
      EXPECT_THAT(ram_file(list), HasSubstr(" " + std::string{file_system} + " ")) << list;
}

TEST(RamFiles, HaveTheProgramsThatGrowThem) {
  for (const std::string program : {"sfdisk", "e2fsck", "resize2fs", "xfs_growfs", "btrfs"})
    EXPECT_THAT(ram_file("parts/tree.sh"), ContainsRegex("/usr/s?bin/" + program + "[ \n)]"));
  for (const std::string package : {"fdisk", "e2fsprogs", "xfsprogs", "btrfs-progs"})
    EXPECT_THAT(ram_file("parts/packages.sh"), ContainsRegex("roots=.* " + package + "[ )]"));
}

TEST(RamFiles, HaveWhatReadsATpm) {
  EXPECT_THAT(ram_file("parts/packages.sh"), ContainsRegex("roots=[^)]* tpm2-tools[ )]"));
  EXPECT_THAT(ram_file("parts/tree.sh"), HasSubstr("/usr/bin/tpm2_nvread"));
  EXPECT_THAT(ram_file("parts/tree.sh"), HasSubstr("libtss2-tcti-device.so.0"));
  for (const auto* driver : {" tpm_tis ", " tpm_crb "})
    EXPECT_THAT(ram_file("modules"), HasSubstr(driver));
}

class LargeRoot : public ::testing::Test {
 protected:
  /// Its bash functions on a folder of packages that has a kernel's modules.
  testing::Ran in_bash(const std::string& commands,
                       std::chrono::seconds patience = std::chrono::seconds{30}) const {
    const auto work = (folder_.path() / "work").string();
    std::filesystem::create_directories(work + "/packages/lib/modules/6.1.0-1");
    std::filesystem::create_directories(work + "/out");
    std::ofstream{work + "/packages/lib/modules/6.1.0-1/modules.dep"} << "";
    return testing::Child{
        {"bash", "-c",
         "set -euo pipefail; export LC_ALL=C SOURCE_DATE_EPOCH=1700000000; work=" + work +
             " out=" + work +
             "/out program=/bin/true deb=amd64 root=bookworm\n"
             "root_sources=() root_packages=(); fail() { echo \"$*\" >&2; exit 1; }; step() { :; "
             "}\n"
             ". " SOURCE_DIR "/burnin/ram/parts/large_root.sh\n" +
             commands}}
        .wait(patience);
  }
  std::string work_file(const std::string& name) const {
    return file_bytes(folder_.path() / "work" / name);
  }

  const test::TemporaryFolder folder_{};
};

TEST_F(LargeRoot, IsMadeOfTheToolsOfTheStagesAndOfWhatTheSiteAdds) {
  const auto ran = in_bash(
      "root_packages=(cuda-drivers nvidia-fabricmanager-550)\n"
      "root_sources=(http://10.0.0.1/debian 'deb http://10.0.0.1/cuda /'); large_root_words");

  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto all = lines(ran.out);
  ASSERT_GE(all.size(), 4u);
  const std::vector<std::string_view> last(all.end() - 4, all.end());
  EXPECT_EQ(last, (std::vector<std::string_view>{"bookworm", "-", "http://10.0.0.1/debian",
                                                 "deb http://10.0.0.1/cuda /"}));
  for (const auto* each : {"stress-ng", "fio", "nvme-cli", "infiniband-diags", "mstflint",
                           "openssh-server", "cuda-drivers", "nvidia-fabricmanager-550"})
    EXPECT_THAT(ran.out, ContainsRegex("--include=[^\n]*[=,]" + std::string{each} + "[,\n]"));
  EXPECT_THAT(ran.out, HasSubstr("--architectures=amd64\n"));
  EXPECT_THAT(ran.out, HasSubstr("rm -f \"$1\"/etc/ssh/ssh_host_* \"$1\"/etc/hostname"))
      << "keys of all machines";
}

TEST_F(LargeRoot, HasTheModulesOfTheKernelThatRunsAndTheNodesProgram) {
  const auto ran = in_bash("large_files");

  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "work/kernel/modules/6.1.0-1/modules.dep"));
  EXPECT_EQ(work_file("large/usr/bin/cupel-node"), file_bytes("/bin/true"));
  EXPECT_EQ(work_file("large/etc/cupel/os.json"), "{\"image\":\"root.squashfs\"}\n");
  EXPECT_THAT(work_file("large/etc/systemd/network/80-cupel.network"),
              HasSubstr("KeepConfiguration=yes\n"));
}

TEST_F(LargeRoot, ListsItsPackagesOnceWithThoseOfTheSmallSystem) {
  const auto ran = in_bash(
      "mmdebstrap() { printf 'Package: fio\\nVersion: 3.33-3\\n\\nPackage: curl\\nVersion: "
      "7.88\\n' "
      "> $work/large-status; echo tar; }\n"
      "mksquashfs() { cat > \"$2\"; }\n"
      "echo 'curl 7.88' > $out/packages; make_large_root");

  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(work_file("out/packages"), "curl 7.88\nfio 3.33-3\n");
  EXPECT_EQ(work_file("out/root.squashfs"), "tar\n");
}

TEST_F(LargeRoot, SaysWhyMmdebstrapFailed) {
  const auto ran = in_bash(
      "mmdebstrap() { echo 'E: Unable to locate package cuda-drivers' >&2; return 1; }\n"
      "mksquashfs() { cat > \"$2\"; }\n"
      "touch $out/packages; make_large_root");

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("root.squashfs: E: Unable to locate package cuda-drivers"));
}

/// Whether `build` takes these options; its answer.
std::string refused(const std::string& options) {
  const test::TemporaryFolder out;
  const auto ran = testing::Child{
      {"bash", "-c",
       SOURCE_DIR "/burnin/ram/build --out " + out.path().string() + " --node-program /bin/true " +
           options}}.wait();
  EXPECT_EQ(ran.status, 1) << options;
  return ran.err;
}

TEST(RamBuild, RefusesWhatWouldBeAnOptionOfMmdebstrap) {
  EXPECT_THAT(refused("--root-package fio"), HasSubstr("need --root"));
  EXPECT_THAT(refused("--root --simulate"), HasSubstr("is no name of a release or a package"));
  EXPECT_THAT(refused("--root bookworm --root-package 'fio,x;y'"), HasSubstr("is no name"));
  EXPECT_THAT(refused("--root bookworm --root-source --setup-hook=true"), HasSubstr("an URL"));
}

using LongLargeRoot = LargeRoot;

TEST_F(LongLargeRoot, IsTheSameBytesOfTheSamePackages) {
  constexpr std::chrono::seconds kPatience{1'800};
  if (in_bash("command -v mmdebstrap && command -v mksquashfs").status != 0)
    GTEST_SKIP() << "mmdebstrap or squashfs-tools is not installed";
  if (in_bash("curl -sfI -m 20 http://deb.debian.org/debian/dists/bookworm/Release").status != 0)
    GTEST_SKIP() << "Debian's mirror is not reachable";
  const std::string make =
      "large_packages=(systemd-sysv openssh-server fio); touch $out/packages; make_large_root; "
      "sha256sum < $out/root.squashfs";

  const auto first = in_bash(make, kPatience), second = in_bash(make, kPatience);

  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_THAT(work_file("out/packages"), ContainsRegex("\nfio 3[^\n]*\n"));
}

}  // namespace
}  // namespace cupel::agent::boot
