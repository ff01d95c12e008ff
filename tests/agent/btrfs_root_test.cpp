// Subvolumes of btrfs as fedora, openSUSE and Ubuntu lay them out: where the root is, and where the
// seed's folder.
#include "burnin/agent/node/boot/btrfs_root.h"

#include <gmock/gmock.h>

#include "tests/agent/boot_image.h"

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

}  // namespace
}  // namespace cupel::agent::boot
