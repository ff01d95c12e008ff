// Whether a seed on a written image would be found is seen in the image, by what mke2fs writes
// there; any other bytes are no file system.
#include "orchestrator/images/seed_place.h"

#include <gmock/gmock.h>

#include <fstream>

#include "orchestrator/images/ext4.h"
#include "orchestrator/images/image.h"
#include "tests/support/captures.h"
#include "tests/support/ext4_disk.h"
#include "tests/support/real_part.h"

namespace cupel::images {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kStart = 1U << 20U;  // of the partition
constexpr const char* kNoRoot = "none of its partitions has a root on ext4, XFS or btrfs";

class SeedPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(testing::has_ext4_tools(), "e2fsprogs is not installed");
    put("etc/hostname", "image\n");
  }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root() / file).parent_path());
    std::ofstream{root() / file} << text;
  }
  fs::path root() const { return folder_.path() / "root"; }
  std::string disk(const std::string& type = "ext4") const {
    return testing::ext4_disk(folder_.path(), root(), type);
  }
  std::string keep(const std::string& disk) const {
    const auto file = (folder_.path() / "disk.raw").string();
    std::ofstream{file, std::ios::binary} << disk;
    return file;
  }

  test::TemporaryFolder folder_;
};

TEST_F(SeedPlace, IsHiddenByAFileSystemThatFstabMountsOverIt) {
  put("etc/fstab", "UUID=1 / ext4 defaults 0 1\nUUID=2 /var xfs defaults 0 2\n");
  // More than the first block of the folder holds, and more than an inode's twelve blocks.
  for (int i = 0; i < 400; ++i) put("etc/a file with a long name " + std::to_string(i), "");

  for (const auto* type : {"ext2", "ext3", "ext4"}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(why_no_seed(keep(disk(type))),
              "its /etc/fstab mounts UUID=2 at /var, which hides the seed in /var/lib/cloud from "
              "cloud-init");
  }
}

TEST_F(SeedPlace, IsOnARootWithoutAFileSystemOverIt) {
  EXPECT_EQ(why_no_seed(keep(disk())), "") << "no fstab";

  put("etc/fstab", "UUID=1 / ext4 defaults 0 1\nUUID=2 /var/log xfs defaults 0 2\n");
  EXPECT_EQ(why_no_seed(keep(disk())), "");
}

TEST_F(SeedPlace, IsNowhereWhereNoPartitionHasARoot) {
  fs::remove_all(root() / "etc");

  EXPECT_EQ(why_no_seed(keep(disk())), kNoRoot);
  EXPECT_EQ(why_no_seed(keep(std::string(2U << 20U, '\0'))), kNoRoot);
}

TEST_F(SeedPlace, IsNotDeniedWhereNothingLooksIntoTheRoot) {
  fs::remove_all(root() / "etc");
  auto xfs = disk(), btrfs = disk(), extended = disk();
  xfs.replace(kStart, 4, "XFSB");
  btrfs.replace(kStart + 65536 + 64, 8, "_BHRfS_M");
  extended[446 + 4] = '\x05';

  EXPECT_EQ(why_no_seed(keep(xfs)), "");
  EXPECT_EQ(why_no_seed(keep(btrfs)), "");
  EXPECT_EQ(why_no_seed(keep(extended)), "");
}

TEST_F(SeedPlace, IsNotDeniedWhereTheJournalMayHoldTheRestOfIt) {
  fs::remove_all(root() / "etc");
  auto bytes = disk();
  bytes[kStart + 1024 + 96] = static_cast<char>(bytes[kStart + 1024 + 96] | 0x4);

  EXPECT_EQ(why_no_seed(keep(bytes)), "");
}

TEST_F(SeedPlace, IsNotDeniedWhereFstabIsALink) {
  fs::create_symlink("../usr/etc/fstab", root() / "etc/fstab");

  EXPECT_EQ(why_no_seed(keep(disk())), "");
}

TEST_F(SeedPlace, OfADamagedFileSystemIsLookedForToAnEndAndNoFurther) {
  put("etc/fstab", "UUID=2 /var xfs\n");
  const auto bytes = disk();
  const auto name = keep(bytes);
  std::fstream file{name, std::ios::binary | std::ios::in | std::ios::out};
  const auto put_byte = [&](std::size_t at, char value) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(value);
    file.flush();
  };
  // Each byte of what is read of the super block, and of the first group's descriptor.
  for (std::size_t at = kStart + 1024; at < kStart + 1024 + 256; ++at)
    for (const char value : {'\0', '\x01', '\xff', bytes[at]}) {
      put_byte(at, value);
      const auto why = why_no_seed(name);
      if (value == bytes[at]) {
        EXPECT_THAT(why, HasSubstr("at /var")) << "nothing is damaged";
      }
    }
  EXPECT_EQ(why_no_seed(keep(bytes.substr(0, kStart + 1024 + 512))), kNoRoot) << "half of it";
}

TEST(SeedRefusal, NamesTheImageTheCauseAndBothWaysOut) {
  EXPECT_EQ(why_not_seeded("debian", ""), "");
  EXPECT_THAT(why_not_seeded("debian", "its /etc/fstab mounts UUID=2 at /var"),
              AllOf(HasSubstr("image debian has no place for a seed: its /etc/fstab mounts UUID=2 "
                              "at /var. "),
                    HasSubstr("/var/lib/cloud on a root of ext4, XFS or btrfs"),
                    HasSubstr("os: {seed: no}")));
}

}  // namespace
}  // namespace cupel::images
