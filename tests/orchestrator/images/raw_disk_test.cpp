// What is taken for a disk image, and what would be found out on a node whose disk is overwritten.
#include "orchestrator/images/raw_disk.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/captures.h"

namespace cupel::images {
namespace {

using namespace std::string_view_literals;
using ::testing::HasSubstr;

constexpr auto kEsp = "\x28\x73\x2a\xc1\x1f\xf8\xd2\x11\xba\x4b\x00\xa0\xc9\x3e\xc9\x3b"sv;
constexpr auto kSwap = "\x6d\xfd\x57\x06\xab\xa4\xc4\x43\x84\xe5\x09\x33\xc8\x4b\x4f\x4f"sv;
constexpr auto kLvm = "\x79\xd3\xd6\xe6\x07\xf5\xc2\x44\xa2\x3c\x23\x8f\x2a\x3d\xf9\x28"sv;
constexpr auto kLinux = "\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4"sv;

/// A GPT with these partitions, of a MiB each from the first MiB on; where the first is an EFI
/// system partition it has a FAT file system.
std::string gpt(std::initializer_list<std::string_view> types, std::size_t sector = 512) {
  std::string disk((types.size() + 2) << 20, '\0');
  disk.replace(510, 2, "\x55\xaa");
  disk[446 + 4] = '\xee';
  disk.replace(sector, 8, "EFI PART");
  disk[sector + 72] = 2;  // where its entries begin, how many, and how large
  disk[sector + 80] = 4;
  disk[sector + 84] = '\x80';
  std::size_t number = 0;
  for (const auto type : types) {
    const auto entry = 2 * sector + 128 * number++, start = (number << 20) / sector;
    disk.replace(entry, 16, type);
    disk[entry + 32] = static_cast<char>(start & 0xff);
    disk[entry + 33] = static_cast<char>(start >> 8);
    if (type == kEsp) disk.replace((number << 20) + 82, 3, "FAT");
    if (type == kEsp) disk.replace((number << 20) + 510, 2, "\x55\xaa");
  }
  return disk;
}

class RawDisk : public ::testing::Test {
 protected:
  /// Why it is refused; empty: it is taken.
  std::string refusal(std::string_view bytes) const {
    const auto file = (folder_.path() / "disk.raw").string();
    std::ofstream{file, std::ios::binary} << bytes;
    const auto checked = check_raw_disk(file);
    if (checked) return {};
    EXPECT_EQ(checked.error().code, Code::kInvalid);
    EXPECT_TRUE(checked.error().what.starts_with(file + ": "));
    return checked.error().what;
  }

  test::TemporaryFolder folder_;
};

TEST_F(RawDisk, IsOneWithATableAndSomethingToStartIt) {
  auto by_bios = gpt({kLinux});
  by_bios.replace(0, 2, "\xeb\x63");

  EXPECT_EQ(refusal(gpt({kEsp, kLinux})), "");
  EXPECT_EQ(refusal(gpt({kEsp, kSwap, kLinux})), "");
  EXPECT_EQ(refusal(by_bios), "");
}

TEST_F(RawDisk, IsNoTextNoZeroesAndNoFileSystem) {
  std::string ext4(2 << 20, '\0');
  ext4.replace(1024 + 56, 2, "\x53\xef");

  for (const auto& bytes : {std::string{"twelve bytes"}, std::string(10 << 20, '\0'), ext4})
    EXPECT_THAT(refusal(bytes), HasSubstr("has no partition table"));
}

TEST_F(RawDisk, IsNothingThatHoldsADiskInAnotherForm) {
  const auto with = [](std::size_t at, std::string_view mark) {
    auto bytes = gpt({kEsp, kLinux});
    bytes.replace(at, mark.size(), mark);
    return bytes;
  };

  EXPECT_THAT(refusal(with(0, "\x1f\x8b\x08"sv)), HasSubstr("compressed by gzip"));
  EXPECT_THAT(refusal(with(0, "\xfd\x37zXZ\0"sv)), HasSubstr("compressed by xz"));
  EXPECT_THAT(refusal(with(257, "ustar"sv)), HasSubstr("a tar archive"));
  EXPECT_THAT(refusal(with(32769, "CD001"sv)), HasSubstr("an ISO 9660 disc"));
  EXPECT_THAT(refusal(with(0, "conectix"sv)), HasSubstr("a VHD"));
  EXPECT_THAT(refusal(with(0, "vhdxfile"sv)), HasSubstr("a VHDX"));
  EXPECT_THAT(refusal(with(0, "KDMV"sv)), HasSubstr("a VMDK"));
  EXPECT_THAT(refusal(with(0, "hsqs"sv)), HasSubstr("a squashfs"));
}

TEST_F(RawDisk, IsNotOneThatANodeCouldNotUse) {
  auto empty_esp = gpt({kEsp, kLinux});
  empty_esp.replace((1 << 20) + 82, 3, 3, '\0');

  EXPECT_THAT(refusal(gpt({kEsp, kLinux}, 4096)), HasSubstr("sectors of 4096 bytes"));
  EXPECT_THAT(refusal(gpt({kLinux})), HasSubstr("no EFI system partition"));
  EXPECT_THAT(refusal(empty_esp), HasSubstr("without a FAT file system"));
  EXPECT_THAT(refusal(gpt({kEsp, kLinux, kSwap})), HasSubstr("swap as its last partition"));
  EXPECT_THAT(refusal(gpt({kEsp, kLinux, kLvm})), HasSubstr("LVM as its last partition"));
}

TEST_F(RawDisk, IsJudgedByWhatItsLastPartitionHoldsWhateverItsTableSays) {
  constexpr std::size_t kLast = std::size_t{2} << 20;
  const auto with = [](std::size_t at, std::string_view bytes) {
    auto disk = gpt({kEsp, kLinux});
    return disk.replace(kLast + at, bytes.size(), bytes);
  };
  auto lvm = with(512, "LABELONE");

  EXPECT_THAT(refusal(with(4086, "SWAPSPACE2")), HasSubstr("swap as its last partition"));
  EXPECT_THAT(refusal(with(65526, "SWAPSPACE2")), HasSubstr("swap as its last partition"));
  EXPECT_EQ(refusal(lvm), "");
  EXPECT_THAT(refusal(lvm.replace(kLast + 512 + 24, 8, "LVM2 001")),
              HasSubstr("LVM as its last partition"));
  EXPECT_THAT(refusal(with(0, "LUKS\xba\xbe")), HasSubstr("encrypted by LUKS as its last one"));
}

TEST_F(RawDisk, IsNotOneWithABtrfsThatTheRamSystemCannotGrow) {
  const auto with = [](std::size_t at, char value) {
    auto disk = gpt({kEsp, kLinux});
    const auto block = (std::size_t{2} << 20) + 65536;
    disk.replace(block + 64, 8, "_BHRfS_M");
    disk[block + 136] = 1;     // devices
    disk[block + 145] = 0x10;  // sectors of 4096 bytes
    disk[block + at] = value;
    return disk;
  };

  EXPECT_EQ(refusal(with(136, 1)), "");
  EXPECT_THAT(refusal(with(136, 2)), HasSubstr("btrfs over several devices"));
  EXPECT_THAT(refusal(with(146, 1)), HasSubstr("sectors above 4096 bytes"));
  EXPECT_THAT(refusal(with(60, 1)), HasSubstr("a seed device"));
}

}  // namespace
}  // namespace cupel::images
