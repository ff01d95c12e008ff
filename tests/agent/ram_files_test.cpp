// What the RAM system is built from holds what its boot client asks for.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace cupel::agent::boot
