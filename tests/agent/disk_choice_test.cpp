// Which disk is written, and which never: the disks of a written /sys, and what they hold.
#include "burnin/agent/node/boot/disk_choice.h"

#include <gmock/gmock.h>

#include "tests/agent/node_tree.h"

namespace cupel::agent::boot {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kSize = 8 << 20;

/// Zeroes with `mark` there; below 0: from the end.
std::string bytes_with(std::string_view mark, std::int64_t offset) {
  std::string bytes(kSize, '\0');
  const auto at = offset < 0 ? static_cast<std::int64_t>(kSize) + offset : offset;
  bytes.replace(static_cast<std::size_t>(at), mark.size(), mark);
  return bytes;
}

class Choosing : public ::testing::Test {
 protected:
  Choosing() { std::filesystem::create_directories(node_.root() + "/dev"); }

  void add(const std::string& name, const std::string& serial,
           const std::string& content = std::string(kSize, '\0'),
           const std::string& place = "pci0000:00/0000:00:1f.2/ata1/host0") const {
    const auto folder = "/sys/block/" + name;
    const auto device = "/sys/devices/" + place + "/" + name;
    if (!serial.empty()) node_.write(device + "/serial", serial);
    node_.write(device + "/model", "MODEL 1");
    node_.link(folder + "/device", device);
    node_.write(folder + "/size", std::to_string(content.size() / 512));
    node_.write(folder + "/dev", "8:" + std::to_string(name.back() - 'a') + "0");
    node_.write_bytes("/dev/" + name, content);
  }
  void add_partition(const std::string& disk, int number, const std::string& device) const {
    const auto folder = "/sys/block/" + disk + "/" + disk + std::to_string(number);
    node_.write(folder + "/partition", std::to_string(number));
    node_.write(folder + "/start", "2048");
    node_.write(folder + "/size", "4096");
    node_.write(folder + "/dev", device);
  }
  std::vector<Disk> disks() const { return read_disks(node_.tree()); }
  /// "disk-missing", or the disk's name.
  std::string choice(const DiskHint& hint, std::string_view wipe = {}) const {
    const auto chosen = choose_disk(disks(), hint, wipe);
    return chosen ? chosen->name : std::string{to_string(chosen.error().cause)};
  }
  std::string refusal(const DiskHint& hint, std::string_view wipe = {}) const {
    const auto chosen = choose_disk(disks(), hint, wipe);
    return chosen ? "" : chosen.error().text;
  }

  NodeTree node_;
};

TEST_F(Choosing, TakesTheDiskOfThatSerialAloneAndNeverTheFirst) {
  add("sda", "S1");
  add("sdb", "S2");

  EXPECT_EQ(choice({.serial = "S2"}), "sdb");
  EXPECT_EQ(choice({.serial = "S3"}), "disk-missing");
  EXPECT_EQ(choice({.serial = "S"}), "disk-missing");
  EXPECT_EQ(choice({}), "order");
  EXPECT_EQ(choice({.model = "MODEL 1"}), "order") << "a model alone names no disk";
  EXPECT_THAT(refusal({.serial = "S3"}), AllOf(HasSubstr("sda: serial S1"), HasSubstr("sdb")));
}

TEST_F(Choosing, TakesADiskByModelAndSizeWhereItIsTheOnlyOne) {
  add("sda", "S1");
  add("sdb", "S2", std::string(2 * kSize, '\0'));
  const DiskHint small{.model = "MODEL 1", .size_min = 1, .size_max = kSize};
  const DiskHint both{.model = "MODEL 1", .size_min = 1, .size_max = 4 * kSize};

  EXPECT_EQ(choice(small), "sda");
  EXPECT_EQ(choice(both), "disk-ambiguous");
  EXPECT_THAT(refusal(both), AllOf(HasSubstr("2 disks are"), HasSubstr("S1"), HasSubstr("S2")));
  EXPECT_EQ(choice({.model = "MODEL 2", .size_min = 1}), "disk-missing");
}

TEST_F(Choosing, TakesADiskByItsWwnHoweverItIsWritten) {
  add("sda", "S1", bytes_with("XFSB", 0));
  add("sdb", "");
  node_.write("/sys/block/sda/device/wwid", "naa.5000cca27a1b2c3d");
  node_.write("/sys/block/sdb/device/wwid", "t10.ATA     MODEL 1");

  for (const std::string wwn : {"5000cca27a1b2c3d", "0x5000CCA27A1B2C3D", "naa.5000cca27a1b2c3d"}) {
    EXPECT_EQ(choice({.wwn = wwn}), "disk-not-empty") << wwn;
    EXPECT_EQ(choice({.wwn = wwn}, wwn), "sda") << wwn;
  }
  EXPECT_EQ(choice({.serial = "S2", .wwn = "5000cca27a1b2c3d"}), "disk-missing");
  EXPECT_EQ(choice({.wwn = "t10.ATA     MODEL 1"}), "disk-missing") << "made of its model";
}

TEST_F(Choosing, TwoDisksOfOneSerialAreAmbiguous) {
  add("sda", "S1");
  add("sdb", "S1");

  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "disk-ambiguous");
}

TEST_F(Choosing, TakesAUsbDiskOnlyByItsOwnSerial) {
  add("sda", "S1", std::string(kSize, '\0'), "pci0000:00/usb1/1-1/host6");

  EXPECT_EQ(choice({.serial = "S1"}), "disk-refused");
  EXPECT_EQ(choice({.serial = "S1"}, "S2"), "disk-refused");
  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "sda");
}

TEST_F(Choosing, TakesARemovableDiskOnlyByItsOwnSerial) {
  add("sda", "S1");
  node_.write("/sys/block/sda/removable", "1");

  EXPECT_EQ(choice({.serial = "S1"}), "disk-refused");
  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "sda");
}

TEST_F(Choosing, NeverTakesADiskThatIsReadOnly) {
  add("sda", "S1");
  node_.write("/sys/block/sda/ro", "1");

  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "disk-refused");
}

/// Found once its data is gone otherwise: no partition of the image is there.
TEST_F(Choosing, NeverTakesADiskWhoseSectorsAreLargerThanThoseOfImages) {
  add("sda", "S1");
  node_.write("/sys/block/sda/queue/logical_block_size", "4096");
  add("sdb", "S2");
  node_.write("/sys/block/sdb/queue/logical_block_size", "512");

  EXPECT_EQ(choice({.serial = "S1"}), "disk-refused");
  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "disk-refused") << "also where it may be wiped";
  EXPECT_THAT(refusal({.serial = "S1"}), HasSubstr("its sectors have 4096 bytes"));
  EXPECT_EQ(choice({.serial = "S2"}), "sdb");
}

TEST_F(Choosing, NeverTakesADiskThatIsMounted) {
  add("sda", "S1");
  add_partition("sda", 1, "8:1");
  node_.write("/proc/self/mountinfo", "36 35 8:1 / /data rw,relatime shared:1 - ext4 /dev/sda1 rw");

  EXPECT_EQ(choice({.serial = "S1"}, "S1"), "disk-refused");
  EXPECT_THAT(refusal({.serial = "S1"}, "S1"), HasSubstr("mounted at /data"));
}

TEST_F(Choosing, NeverTakesADiskThatLvmOrMdOrSwapUses) {
  add("sda", "S1");
  add("sdb", "S2");
  add("sdc", "S3");
  node_.write("/sys/block/sda/holders/dm-0", "");
  add_partition("sdb", 2, "8:18");
  node_.write("/sys/block/sdb/sdb2/holders/md127", "");
  node_.write("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sdc\tpartition\t1\t0\t-2");

  EXPECT_THAT(refusal({.serial = "S1"}, "S1"), HasSubstr("it is in use: dm-0"));
  EXPECT_THAT(refusal({.serial = "S2"}, "S2"), HasSubstr("it is in use: md127"));
  EXPECT_THAT(refusal({.serial = "S3"}, "S3"), HasSubstr("it is in use: swap"));
}

TEST_F(Choosing, TakesADiskThatHoldsSomethingOnlyByItsOwnSerial) {
  add("sda", "S1", bytes_with("LABELONE", 512));

  EXPECT_EQ(choice({.serial = "S1"}), "disk-not-empty");
  EXPECT_EQ(choice({.serial = "S1"}, "S2"), "disk-not-empty");
  EXPECT_THAT(refusal({.serial = "S1"}, "S2"), HasSubstr("holds LVM2_member"));
  EXPECT_EQ(choice({.serial = "S1"}, " S1 "), "sda");
}

TEST_F(Choosing, TakesWhatItLeftUnfinished) {
  add("sda", "S1", bytes_with("CUPEL-UNFINISHED-DEPLOY\n", (1 << 20) - 4096));

  EXPECT_EQ(choice({.serial = "S1"}), "sda");
}

TEST_F(Choosing, ADiskThatCannotBeReadIsNotTakenForEmpty) {
  add("sda", "S1");
  std::filesystem::remove(node_.root() + "/dev/sda");

  EXPECT_EQ(choice({.serial = "S1"}), "disk-not-empty");
}

TEST_F(Choosing, SeesNeitherOpticalDrivesNorLoops) {
  add("sr0", "CD1");
  node_.write("/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/sr0/type", "5");
  node_.write("/sys/block/loop0/size", "2048");

  EXPECT_THAT(disks(), IsEmpty());
}

TEST(Holds, NamesWhatItsOwnerLeftThere) {
  struct Row {
    std::string_view name;
    std::int64_t offset;
    std::string_view mark;
  };
  const std::vector<Row> rows{
      {"gpt", 512, "EFI PART"},
      {"gpt", -512, "EFI PART"},
      {"ext4", 1080, "\x53\xEF"},
      {"xfs", 0, "XFSB"},
      {"btrfs", 65600, "_BHRfS_M"},
      {"swap", 4086, "SWAPSPACE2"},
      {"crypto_LUKS", 0, "LUKS\xBA\xBE"},
      {"LVM2_member", 512, "LABELONE"},
      {"linux_raid_member", 4096, "\xFC\x4E\x2B\xA9"},
      {"linux_raid_member", -8192, "\xFC\x4E\x2B\xA9"},   // 1.0
      {"linux_raid_member", -65536, "\xFC\x4E\x2B\xA9"},  // 0.90
      {"zfs_member", 128 << 10, "\x0C\xB1\xBA\0\0\0\0\0"sv},
      {"zfs_member", -(128 << 10), "\0\0\0\0\0\xBA\xB1\x0C"sv},  // of the last label
      {"data", 4000, "x"},
      {"data", -1, "x"},
  };
  for (const auto& row : rows) {
    const auto bytes = bytes_with(row.mark, row.offset);
    const ReadAt read = [&](std::uint64_t offset, std::size_t count) {
      return offset < bytes.size() ? bytes.substr(offset, count) : std::string{};
    };
    EXPECT_THAT(holds(read, bytes.size(), {}), ElementsAre(row.name)) << row.offset;
  }
}

TEST(Holds, LooksIntoEachPartition) {
  const auto bytes = bytes_with("XFSB", 2 << 20);
  const ReadAt read = [&](std::uint64_t offset, std::size_t count) {
    return offset < bytes.size() ? bytes.substr(offset, count) : std::string{};
  };

  EXPECT_THAT(holds(read, kSize, {{1, 2 << 20, 1 << 20}}), ElementsAre("xfs"));
  EXPECT_THAT(holds(read, kSize, {{1, 4 << 20, 1 << 20}}), ElementsAre("partitions"));
  EXPECT_THAT(holds(read, kSize, {}), IsEmpty());
}

}  // namespace
}  // namespace cupel::agent::boot
