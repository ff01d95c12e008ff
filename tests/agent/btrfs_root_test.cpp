// Subvolumes of btrfs as fedora, openSUSE and Ubuntu lay them out: where the root is, and where the
// seed's folder.
#include "burnin/agent/node/boot/btrfs_root.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/text.h"
#include "burnin/agent/node/boot/seed.h"
#include "tests/agent/boot_image.h"
#include "tests/support/own_host/own_host.h"
#include "tests/support/real_part.h"

namespace cupel::agent::boot {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kUuid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

class RootSubvolume : public ::testing::Test {
 protected:
  void put_system(const std::string& subvolume) const {
    const auto root = folder_.path() / subvolume;
    fs::create_directories(root / "etc");
    fs::create_symlink("../usr/lib/os-release", root / "etc/os-release");
  }
  void put_folder(const std::string& path) const { fs::create_directories(folder_.path() / path); }
  Outcome<std::string> found() const { return root_subvolume(folder_.path().string()); }

  test::TemporaryFolder folder_;
};

TEST_F(RootSubvolume, IsTheOneWithAnOsRelease) {
  for (const auto* name : {"root", "@"}) {
    put_folder("home");
    put_folder("var/etc");
    put_system(name);

    const auto subvolume = found();

    ASSERT_TRUE(subvolume) << subvolume.error().text;
    EXPECT_EQ(*subvolume, name);
    fs::remove_all(folder_.path() / name);
  }
}

TEST_F(RootSubvolume, IsNoneWhereNoneHasASystem) {
  put_folder("home/etc");

  const auto subvolume = found();

  ASSERT_FALSE(subvolume);
  EXPECT_EQ(subvolume.error().cause, Cause::kSeed);
  EXPECT_THAT(subvolume.error().text, HasSubstr("/etc/os-release"));
}

TEST_F(RootSubvolume, IsNotGuessedWhereSeveralHaveASystem) {
  put_system("root");
  put_system("root-before");

  const auto subvolume = found();

  ASSERT_FALSE(subvolume);
  EXPECT_THAT(subvolume.error().text, HasSubstr("root, root-before"));
  EXPECT_THAT(subvolume.error().text, HasSubstr("btrfs subvolume set-default"));
}

TEST_F(RootSubvolume, IsNoNameThatWouldBeAnotherOptionAndNoLink) {
  put_system("root,subvolid=5");
  put_folder("elsewhere");
  fs::create_directory_symlink("/", folder_.path() / "link");

  EXPECT_FALSE(found());
}

TEST(FstabOverSeed, IsTheDeepestAndOfOnePlaceTheLast) {
  const auto line = fstab_over_seed(
      "# UUID=0 /var/lib/cloud xfs\n"
      "UUID=1 / btrfs subvol=root 0 0\n"
      "UUID=2 /var/lib/ xfs defaults 0 0\n"
      "UUID=3\t/var\tbtrfs\tsubvol=var\t0 0\n"
      "UUID=4 /var/lib ext4 defaults 0 0\n"
      "UUID=5 /var/log ext4 defaults 0 0\n");

  ASSERT_TRUE(line);
  EXPECT_EQ(line->device, "UUID=4");
  EXPECT_EQ(line->place, "/var/lib");
  EXPECT_FALSE(fstab_over_seed("UUID=1 / btrfs\nUUID=2 /variable xfs\nUUID=3\nnone swap\n"));
}

TEST(SubvolumeOverSeed, IsOfTheSameFileSystemAlone) {
  FstabLine line{std::string{"UUID="} + kUuid, "/var", "btrfs", "rw,subvol=/@/var,x"};
  EXPECT_EQ(subvolume_of(line, kUuid, "part"), "@/var");

  line.device = "PARTUUID=\"PART\"";
  EXPECT_EQ(subvolume_of(line, kUuid, "part"), "@/var");

  for (const auto& [device, type, options] : {std::tuple{"UUID=0a1b", "btrfs", "subvol=var"},
                                              {"/dev/vda3", "btrfs", "subvol=var"},
                                              {"PARTUUID=part", "xfs", "subvol=var"},
                                              {"PARTUUID=part", "btrfs", "subvolid=257"},
                                              {"PARTUUID=part", "btrfs", "subvol=../var"},
                                              {"PARTUUID=part", "btrfs", "subvol=/"},
                                              {"PARTUUID=", "btrfs", "subvol=var"}}) {
    line = {device, "/var", type, options};
    EXPECT_EQ(subvolume_of(line, kUuid, "part"), "") << device << " " << type << " " << options;
  }
  line = {"UUID=", "/var", "btrfs", "subvol=var"};
  EXPECT_EQ(subvolume_of(line, "", ""), "") << "a UUID that cannot be read is no other's";
}

TEST(BtrfsUuid, IsReadFromItsFirstSuperBlock) {
  const test::TemporaryFolder folder;
  const auto file = (folder.path() / "partition").string();
  std::string bytes(65536 + 4096, '\0');
  bytes.replace(65536 + 32, 16, "\x0a\x1b\x2c\x3d\x4e\x5f\x60\x71\x82\x93\xa4\xb5\xc6\xd7\xe8\xf9");
  std::ofstream{file, std::ios::binary} << bytes;
  EXPECT_EQ(btrfs_uuid(file), "") << "without the magic it is another file system";

  bytes.replace(65536 + 64, 8, "_BHRfS_M");
  std::ofstream{file, std::ios::binary} << bytes;

  EXPECT_EQ(btrfs_uuid(file), kUuid);
  EXPECT_EQ(btrfs_uuid(file + ".absent"), "");
}

testing::Ran sh(const std::string& script) {
  return testing::run({"sh", "-c", "set -e; PATH=$PATH:/usr/sbin:/sbin; " + script});
}

/// A disk whose only partition is a btrfs as an installer of fedora makes it: a loop device stands
/// for both, and sfdisk's answer says so.
class FedoraDisk {
 public:
  FedoraDisk() {
    const auto made = sh("truncate -s 128M " + image() + "; mkfs.btrfs -q " + image() +
                         " >&2; losetup -f --show " + image());
    device_ = made.status == 0 ? std::string{trimmed(made.out)} : std::string{};
    uuid_ = trimmed(sh("blkid -o value -s UUID " + image()).out);
  }
  ~FedoraDisk() {
    if (made()) sh("losetup -d " + device_);
  }
  FedoraDisk(const FedoraDisk&) = delete;
  FedoraDisk& operator=(const FedoraDisk&) = delete;

  bool made() const { return !device_.empty(); }
  const std::string& uuid() const { return uuid_; }
  const std::string& device() const { return device_; }

  /// With the file system mounted at `m`, by these options.
  testing::Ran in(const std::string& options, const std::string& script) const {
    return sh("cd " + folder_.path().string() + "; mkdir -p m; mount -t btrfs -o " + options + " " +
              device_ + " m; trap 'umount m' EXIT; " + script);
  }
  /// `root`, and these subvolumes beside it, each with a line of /etc/fstab.
  testing::Ran install(const std::vector<std::string>& subvolumes) const {
    std::string script =
        "btrfs subvolume create m/root >&2; mkdir m/root/etc; "
        "ln -s ../usr/lib/os-release m/root/etc/os-release; ";
    std::string fstab = "UUID=" + uuid_ + " / btrfs subvol=root,compress=zstd:1 0 0\\n";
    for (const auto& each : subvolumes) {
      script += "btrfs subvolume create m/" + each + " >&2; mkdir m/root/" + each + "; ";
      fstab += "UUID=" + uuid_ + " /" + each + " btrfs subvol=" + each + " 0 0\\n";
    }
    return in("subvolid=5", script + "printf '" + fstab + "' > m/root/etc/fstab");
  }
  Outcome<void> seed() const {
    const auto run = [this](const Argv&, std::string_view, std::chrono::seconds) {
      return Finished{.status = 0,
                      .out = R"({"partitiontable": {"label": "gpt", "partitions": [{"node": ")" +
                             device_ + R"(", "start": 2048, "size": 262144, "type": "X"}]}})"};
    };
    return seed_disk(device_, {{"meta-data", "{}\n"}}, run);
  }

 private:
  std::string image() const { return (folder_.path() / "image").string(); }

  test::TemporaryFolder folder_;
  std::string device_{};
  std::string uuid_{};
};

/// A /run of this test's own: the disk is mounted below it.
class OwnRun {
 public:
  OwnRun() : made_{::mount("tmpfs", "/run", "tmpfs", 0, "mode=0755") == 0} {}
  ~OwnRun() {
    if (made_) ::umount2("/run", MNT_DETACH);
  }
  OwnRun(const OwnRun&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;

  bool made() const { return made_; }

 private:
  bool made_;
};

TEST(SeedOnBtrfs, IsWhereTheSystemOfFedoraLooksForIt) {
  if (!testing::has_own_host()) GTEST_SKIP() << "root alone mounts a file system";
  const OwnRun run;
  ASSERT_TRUE(run.made());
  CUPEL_NEEDS_REAL_PART(sh("command -v mkfs.btrfs && command -v btrfs").status == 0,
                        "btrfs-progs is not installed");
  struct Layout {
    std::vector<std::string> subvolumes;
    std::string options, file;  // where the seed is
  };
  for (const auto& [subvolumes, options, file] :
       {Layout{{"home"}, "subvol=root", "m/var/lib/cloud/seed/nocloud/meta-data"},
        Layout{{"home", "var"}, "subvol=var", "m/lib/cloud/seed/nocloud/meta-data"}}) {
    const FedoraDisk disk;
    CUPEL_NEEDS_REAL_PART(disk.made(), "no loop device can be made here");
    EXPECT_EQ(btrfs_uuid(disk.device()), disk.uuid());
    const auto installed = disk.install(subvolumes);
    ASSERT_EQ(installed.status, 0) << installed.err;

    const auto seeded = disk.seed();

    ASSERT_TRUE(seeded) << seeded.error().text;
    const auto read = disk.in(options, "stat -c %a:%u " + file + "; cat " + file);
    EXPECT_EQ(read.out, "600:0\n{}\n") << options << " " << read.err;
  }
}

}  // namespace
}  // namespace cupel::agent::boot
