// What drivers of cards, drives and file systems write into the kernel's log where they fail, and
// where they do not: as their sources word it.
#include <gtest/gtest.h>

#include <array>

#include "burnin/agent/node/kernel_messages.h"

namespace cupel::agent {
namespace {

using enum MessageKind;

struct Case {
  std::string_view line;
  MessageKind kind;
  std::string_view pci, part;
};

constexpr auto kCases = std::to_array<Case>({
    // A driver that could not start its device, before Linux 6.10 and since.
    {"nvidia: probe of 0000:1b:00.0 failed with error -1", pcie, "0000:1b:00.0", ""},
    {"nvidia 0000:1b:00.0: probe with driver nvidia failed with error -1", pcie, "0000:1b:00.0",
     ""},
    {"mlx5_core: probe of 0000:18:00.0 failed with error -110", pcie, "0000:18:00.0", ""},
    {"nvme 0000:5e:00.0: probe with driver nvme failed with error -12", pcie, "0000:5e:00.0", ""},
    {"bnxt_en 0000:29:00.0: probe with driver bnxt_en failed with error -5", pcie, "0000:29:00.0",
     ""},
    {"pcieport 0000:15:01.0: pciehp: Slot(17): Cannot train link: status 0x0001", pcie,
     "0000:15:01.0", ""},
    {"pcieport 0000:15:01.0: pciehp: Slot(17): Failed to check link status", pcie, "0000:15:01.0",
     ""},
    {"NVRM: GPU 0000:1b:00.0: Failed to copy vbios to system memory.", gpu, "0000:1b:00.0", ""},
    {"NVRM: Can't find an IRQ for your NVIDIA card!", gpu, "", ""},
    {"mlx5_core 0000:18:00.0: probe_one:1985:(pid 771): mlx5_init_one failed with error code -110",
     mlx5, "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: mlx5_function_setup:1171:(pid 7): Firmware over 120000 MS in "
     "pre-initializing state, aborting",
     mlx5, "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: print_health_info:425:(pid 0): synd 0x8: unrecoverable hardware "
     "error",
     mlx5, "0000:18:00.0", ""},
    {"nvme nvme3: IO queues lost", nvme, "", "nvme3"},
    {"bnxt_en 0000:29:00.0 eno1: Firmware not responding, status: 0xffffffff", net, "0000:29:00.0",
     ""},
    {"ixgbe 0000:29:00.0: Network adapter has been stopped because it has over heated. Restart the "
     "computer.",
     net, "0000:29:00.0", ""},
    {"igb 0000:29:00.0: The network adapter has been stopped because it has overheated", net,
     "0000:29:00.0", ""},
    {"i40e 0000:29:00.0: Rx/Tx is disabled on this device because an unsupported SFP module type "
     "was detected.",
     net, "0000:29:00.0", ""},
    {"ice 0000:29:00.0: Rx/Tx is disabled on this device because an unsupported module type was "
     "detected.",
     net, "0000:29:00.0", ""},
    {"ata1: limiting SATA link speed to 1.5 Gbps", disk, "", "ata1"},
    {"EXT4-fs warning (device sda2): ext4_end_bio:343: I/O error 10 writing to inode 131", disk, "",
     "sda2"},
    {"EXT4-fs (nvme1n1p2): I/O error while writing superblock", nvme, "", "nvme1"},
    {"BTRFS warning (device sdb1): csum failed root 5 ino 257 off 0 csum 0x8941f998 expected csum "
     "0x93413794 mirror 1",
     disk, "", "sdb1"},
    {"CMCI storm detected: switching to poll mode", mce, "", ""},
    {"mce: CPU12 BANK7 CMCI storm detected", mce, "", "CPU12"},
});

TEST(DriverMessages, AreErrorsWhereADeviceCouldNotStartOrFailed) {
  for (const auto& each : kCases) {
    const auto found = recognise(each.line);

    ASSERT_TRUE(found) << each.line;
    EXPECT_EQ(to_string(found->kind), to_string(each.kind)) << each.line;
    EXPECT_EQ(found->weight, Weight::error) << each.line;
    EXPECT_EQ(found->pci, each.pci) << each.line;
    EXPECT_EQ(found->part, each.part) << each.line;
    EXPECT_EQ(recognise("[  201.713] " + std::string{each.line}), found) << each.line;
  }
}

TEST(DriverMessages, AreNoneOfDevicesThatAreWell) {
  for (const std::string_view line :
       {"mei_me: probe of 0000:00:16.0 failed with error -19",
        "i801_smbus 0000:00:1f.4: probe with driver i801_smbus failed with error -16",
        "nvidia: module verification failed: signature and/or required key missing",
        "EXT4-fs warning (device dm-0): ext4_dx_add_entry:2516: Directory index full!",
        "EXT4-fs (sda1): warning: maximal mount count reached, running e2fsck is recommended",
        "BTRFS warning (device sda2): block size caching is not enabled",
        "mce: CPU12 BANK7 CMCI storm subsided", "CMCI storm subsided: switching to interrupt mode",
        "ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)",
        "pcieport 0000:15:01.0: pciehp: Slot(17): Link Up"})
    EXPECT_FALSE(recognise(line)) << line;
}

// At the level of a notice the head of the report is information; so are the lines behind it.
TEST(DriverMessages, OfAHealthReportHaveItsLevel) {
  for (const std::string_view text :
       {"mlx5_core 0000:18:00.0: print_health_info:432:(pid 0): assert_var[0] 0x00000000",
        "mlx5_core 0000:18:00.0: print_health_info:440:(pid 0): synd 0x10: High temperature"}) {
    KernelRecord record{.priority = 5, .text = std::string{text}};
    const auto notice = recognise(record);
    record.priority = 3;
    const auto error = recognise(record);

    ASSERT_TRUE(notice && error) << text;
    EXPECT_EQ(notice->weight, Weight::information) << text;
    EXPECT_EQ(error->weight, Weight::error) << text;
  }
}

}  // namespace
}  // namespace cupel::agent
