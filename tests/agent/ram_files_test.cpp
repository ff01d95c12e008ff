// What the RAM system is built from holds what its boot client asks for.
#include <gmock/gmock.h>

#include "base/text.h"
#include "burnin/agent/node/boot/partition_table.h"
#include "tests/agent/boot_image.h"
#include "tests/support/own_host/own_host.h"

namespace cupel::agent::boot {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string ram_file(const std::string& name) {
  return file_bytes(SOURCE_DIR "/burnin/ram/" + name);
}

TEST(RamFiles, HaveADriverOfEachFileSystemThatIsGrownAndMountedAndWhatTheKernelLoadsItWith) {
  for (const auto file_system : kFileSystems)
    EXPECT_THAT(ram_file("modules"), HasSubstr(" " + std::string{file_system} + " "));
  EXPECT_THAT(ram_file("parts/tree.sh"), HasSubstr("\"$tree/sbin/modprobe\""));
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

TEST_F(LargeRoot, HasOneServiceThatSetsTheClock) {
  const auto ran = in_bash("root_packages=(cuda-drivers); large_root_words");

  EXPECT_THAT(ran.out, HasSubstr(",systemd-timesyncd,cuda-drivers\n"));
  for (const std::string own : {"chrony", "ntpsec", "chrony=4.3-2+deb12u1"}) {
    const auto other = in_bash("root_packages=(" + own + "); large_root_words");
    EXPECT_THAT(other.out, HasSubstr("," + own + "\n"));
    EXPECT_THAT(other.out, ::testing::Not(HasSubstr("systemd-timesyncd")))
        << "it and " << own << " exclude each other";
  }
}

TEST_F(LargeRoot, OfUbuntuForAnotherArchitectureHasItsSuiteItsSourcesAndItsKeyrings) {
  const auto ran = in_bash(
      "deb=arm64 root=noble root_packages=(nvidia-driver-550-server)\n"
      "root_sources=('deb http://10.0.0.1/ubuntu noble main universe'\n"
      "  'deb [signed-by=/etc/apt/keyrings/site.gpg] http://10.0.0.1/cuda ./')\n"
      "large_root_words");

  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto all = lines(ran.out);
  ASSERT_GE(all.size(), 4u);
  const std::vector<std::string_view> last(all.end() - 4, all.end());
  EXPECT_EQ(last, (std::vector<std::string_view>{
                      "noble", "-", "deb http://10.0.0.1/ubuntu noble main universe",
                      "deb [signed-by=/etc/apt/keyrings/site.gpg] http://10.0.0.1/cuda ./"}));
  EXPECT_THAT(ran.out, HasSubstr("\n--architectures=arm64\n"));
  EXPECT_THAT(ran.out, ContainsRegex("--include=[^\n]*,nvidia-driver-550-server\n"));
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

/// The functions of parts/packages.sh, with an apt that prints what it is asked.
class RamPackages : public ::testing::Test {
 protected:
  testing::Ran in_bash(const std::string& commands) const {
    const auto work = folder_.path().string();
    return testing::Child{{"bash", "-c",
                           "set -euo pipefail; work=" + work + " cache=" + work +
                               "/cache apt_options=() deb=arm64 kernel=generic\n"
                               "fail() { echo \"$*\" >&2; exit 1; }\n"
                               ". " SOURCE_DIR "/burnin/ram/parts/packages.sh\n" +
                               commands}}
        .wait();
  }

  const test::TemporaryFolder folder_{};
};

TEST_F(RamPackages, OfAnotherArchitectureComeByListsOfTheirOwn) {
  const auto ran = in_bash(
      "apt() { [ \"$1\" = get ] && asked=\"$*\"; }\n"
      "use_other_architecture; echo \"$asked\"; printf '%s\\n' \"${apt_options[@]}\"");

  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("get -q update\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nAPT::Architecture=arm64\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nAPT::Architectures=arm64\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nDir::State::Lists=[^\n]*/cache/apt-arm64/lists\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nDir::State::status=[^\n]*/cache/apt-arm64/status\n"));
}

TEST_F(RamPackages, HaveTheKernelOfDebianOrElseThatOfUbuntu) {
  const std::string ask = "kernel_package; kernel=cloud; kernel_package";

  const auto debian =
      in_bash("apt() { printf 'linux-image-%s\\n' arm64 cloud-arm64 generic virtual; }\n" + ask);
  const auto ubuntu = in_bash("apt() { printf 'linux-image-%s\\n' generic virtual; }\n" + ask);
  const auto none = in_bash("apt() { echo linux-image-6.1.0-1-amd64; }\n" + ask);

  EXPECT_EQ(debian.out, "linux-image-arm64\nlinux-image-cloud-arm64\n");
  EXPECT_EQ(ubuntu.out, "linux-image-generic\nlinux-image-virtual\n");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no package of linux-image-arm64 linux-image-generic"));
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

TEST(RamBuild, NamesAllThatIsWrongAtOnce) {
  const auto output = refused(
      "--arch riscv64 --kernel large --ca /absent.pem --boot-host 'a;b' --key /absent.key --root "
      "bookworm "
      "--root-package 'fio;x' --root-source 'deb http://10.0.0.1/cuda ./' "
      "--root-source 'deb [signed-by=/absent.gpg] http://10.0.0.1/cuda ./' "
      "--root-source 'deb http://10.0.0.1/debian bookworm'");

  for (const auto* each :
       {"no RAM system for riscv64: x86_64 or aarch64", "--kernel large: generic or cloud",
        "--ca /absent.pem: cannot be read", "--boot-host 'a;b' is no address",
        "--key and --cert go together", "'fio;x' is no name of a release or a package",
        "'deb http://10.0.0.1/cuda ./': names no keyring, and is no suite of bookworm",
        "the keyring /absent.gpg cannot be read",
        "'deb http://10.0.0.1/debian bookworm': names no component"})
    EXPECT_THAT(output, HasSubstr(each));
  for (const auto line : lines(output))
    EXPECT_TRUE(line.starts_with("cupel image build: ")) << line;
}

TEST(RamBuild, NamesABootServerOnlyBesideTheCertificatesThatProveIt) {
  EXPECT_THAT(refused("--boot-host 10.0.0.1"), HasSubstr("--boot-host needs --ca"));
}

TEST(RamBuild, MakesASystemThatObeysEachBootServerOnlyWhereThatIsAskedFor) {
  constexpr const char* kWho = "name --ca FILE; with --any-boot-server in its place";
  EXPECT_THAT(refused("--kernel large"), HasSubstr(kWho));
  EXPECT_THAT(refused("--any-boot-server --kernel large"),
              ::testing::AllOf(HasSubstr("--kernel large"), ::testing::Not(HasSubstr(kWho))));
  EXPECT_THAT(refused("--ca /etc/passwd --any-boot-server"), HasSubstr("exclude each other"));
  EXPECT_THAT(ram_file("parts/tree.sh"), HasSubstr("if [ -n \"$any_boot_server\" ]; then touch "
                                                   "\"$tree/etc/cupel/any-boot-server\"; fi"));
}

TEST(RamBuild, TakesNoRepositoryWhosePackagesAreNotVerified) {
  EXPECT_THAT(refused("--root noble --root-source 'deb [trusted=yes] http://10.0.0.1/cuda ./'"),
              HasSubstr("with trusted=yes its packages are not verified"));
  EXPECT_THAT(refused("--root noble --root-source 'deb [arch=arm64] http://10.0.0.1/cuda ./'"),
              HasSubstr("names no keyring, and is no suite of noble"));
}

/// `build` with these options, where each program that it needs only reports how it was started.
testing::Ran dry_run(const std::string& options) {
  const test::TemporaryFolder folder;
  const auto path = folder.path().string();
  return testing::Child{
      {"bash", "-c",
       "cd " + path +
           "; mkdir bin out; for each in apt-get apt-cache dpkg-deb depmod cpio zstd objcopy "
           "aarch64-linux-gnu-objcopy x86_64-linux-gnu-objcopy mmdebstrap mksquashfs xorriso "
           "mkfs.vfat mcopy; do\n"
           "printf '#!/bin/sh\\necho \"${0##*/} $*\"; exit 1\\n' > bin/$each; done\n"
           "touch site.gpg; chmod 755 bin/*; PATH=$PWD/bin:$PATH XDG_CACHE_HOME=$PWD " SOURCE_DIR
           "/burnin/ram/build --out $PWD/out --node-program /bin/true --any-boot-server " +
           options}}
      .wait();
}

TEST(RamBuild, OfAnotherArchitectureTakesItsPackagesAndASitesSignedRepository) {
  const bool is_x86 = testing::run({"uname", "-m"}).out == "x86_64\n";
  const std::string arch = is_x86 ? "aarch64" : "x86_64", deb = is_x86 ? "arm64" : "amd64";

  const auto ran = dry_run("--arch " + arch +
                           " --root noble --root-package cuda-drivers --root-source 'deb "
                           "http://10.0.0.1/ubuntu noble main universe' --root-source 'deb "
                           "http://10.0.0.1/ubuntu noble-security main universe' --root-source "
                           "\"deb [arch=" +
                           deb + " signed-by=$PWD/site.gpg] http://10.0.0.1/cuda ./\"");

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, ::testing::StartsWith("cupel image build: apt-get update for " + deb +
                                             ": apt-get -o APT::Sandbox::User=root"));
  EXPECT_THAT(ran.err, HasSubstr(" -o APT::Architecture=" + deb + " "));
}

using LongLargeRoot = LargeRoot;

TEST_F(LongLargeRoot, IsTheSameBytesOfTheSamePackages) {
  constexpr std::chrono::seconds kPatience{1'800};
  const testing::MachinesNetwork with_packages;
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
