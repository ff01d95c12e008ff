// The loader that a boot entry will name is looked for on the image's EFI system partition, by what
// real tools write there; any other bytes are no file system.
#include "orchestrator/images/fat.h"

#include <gmock/gmock.h>

#include "orchestrator/images/raw_disk.h"
#include "tests/support/captures.h"
#include "tests/support/esp_disk.h"

namespace cupel::images {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kStart = 1U << 20U;  // of the partition

class FatFiles : public ::testing::Test {
 protected:
  std::string keep(const std::string& disk) const {
    const auto file = (folder_.path() / "disk.raw").string();
    std::ofstream{file, std::ios::binary} << disk;
    return file;
  }
  std::string refusal(const std::string& disk, std::string_view loader) const {
    const auto checked = check_efi_loader(keep(disk), loader);
    if (checked) return {};
    EXPECT_EQ(checked.error().code, Code::kInvalid);
    return checked.error().what;
  }

  test::TemporaryFolder folder_;
};

TEST_F(FatFiles, AreFoundByTheirPathInFatsOfEachWidth) {
  CUPEL_NEEDS_REAL_PART(testing::has_fat_tools(), "dosfstools or mtools is not installed");
  std::vector<std::string> files{"debian/shimx64.efi", "BOOT/BOOTX64.EFI"};
  // More than the folder's first cluster holds.
  for (int i = 0; i < 20; ++i)
    files.push_back("debian/a file with a long name " + std::to_string(i) + ".cfg");
  for (const int bits : {12, 16, 32}) {
    SCOPED_TRACE(bits);
    const auto disk = testing::esp_disk(folder_.path(), bits, files);

    EXPECT_EQ(refusal(disk, R"(\EFI\debian\shimx64.efi)"), "");
    EXPECT_EQ(refusal(disk, R"(\efi\boot\bootx64.efi)"), "");
    EXPECT_EQ(refusal(disk, R"(\EFI\debian\a file with a long name 19.cfg)"), "");
    EXPECT_THAT(refusal(disk, R"(\EFI\debian\grubx64.efi)"),
                AllOf(HasSubstr(R"(its EFI system partition has no \EFI\debian\grubx64.efi)"),
                      HasSubstr("Name one that it has by --efi: "), HasSubstr("BOOTX64.EFI"),
                      Not(HasSubstr(".cfg"))));
    EXPECT_NE(refusal(disk, R"(\EFI\debian)"), "") << "a folder";
    EXPECT_NE(refusal(disk, R"(EFI\debian\shimx64.efi)"), "") << "a boot entry takes no such path";
    EXPECT_NE(refusal(disk, "/EFI/debian/shimx64.efi"), "");
    EXPECT_NE(refusal(disk, ""), "");
  }
}

TEST_F(FatFiles, OfDamagedFileSystemsEndTheSearchAndNothingElse) {
  CUPEL_NEEDS_REAL_PART(testing::has_fat_tools(), "dosfstools or mtools is not installed");
  const auto disk = testing::esp_disk(folder_.path(), 12, {"debian/shimx64.efi"});
  const auto name = keep(disk);
  std::fstream bytes{name, std::ios::binary | std::ios::in | std::ios::out};
  const auto put = [&](std::size_t at, char value) {
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(value);
    bytes.flush();
  };
  // Each byte of the head and of the table in turn.
  for (std::size_t at = kStart; at < kStart + 1'024; ++at)
    for (const char value : {'\0', '\x01', '\xff', disk[at]}) {
      put(at, value);
      std::ifstream file{name, std::ios::binary};
      const auto fat = Fat::open(file, kStart);
      const auto found = fat ? fat->find(R"(\EFI\debian\shimx64.efi)") : std::nullopt;
      if (value == disk[at]) {
        EXPECT_TRUE(found) << "at " << at << " nothing is damaged";
      }
    }
  // And an image that ends within them.
  EXPECT_NE(refusal(disk.substr(0, kStart + 100), R"(\EFI\debian\shimx64.efi)"), "");
  EXPECT_NE(refusal(disk.substr(0, kStart + 2'000), R"(\EFI\debian\shimx64.efi)"), "");
}

TEST_F(FatFiles, OfAnImageWithoutAnEfiSystemPartitionAreNone) {
  EXPECT_THAT(refusal(std::string(2U << 20U, '\0'), R"(\EFI\BOOT\BOOTX64.EFI)"),
              HasSubstr("It has no other loader below \\EFI either"));
}

}  // namespace
}  // namespace cupel::images
