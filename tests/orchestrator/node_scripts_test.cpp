// What is sent to a node whose own tools write firmware, and what its answer means.
#include "orchestrator/firmware/node_scripts.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "tests/support/captures.h"

namespace cupel::firmware {
namespace {

using inventory::ExpectedFirmware;
using inventory::FirmwareReset;
using inventory::Part;
using inventory::PartKind;
using inventory::UpdateWay;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kAnswer =
    "cupel-boot: 0f3c2b1a-1111-2222-3333-444455556666\n"
    "/sys/class/infiniband/mlx5_0/fw_ver:28.39.1002\n"
    "/sys/class/infiniband/mlx5_0/hca_type:MT4129\n"
    "/sys/class/infiniband/mlx5_0/board_id:MT_0000000838\n"
    "/sys/class/infiniband/mlx5_bond_0/fw_ver:28.39.1002\n"
    "/sys/class/infiniband/mlx5_0/device/uevent:PCI_SLOT_NAME=0000:18:00.0\n"
    "/sys/class/nvme/nvme3/firmware_rev:GDC5602Q\n"
    "/sys/class/nvme/nvme3/model:SAMSUNG MZQL23T8HCLS-00A07\n"
    "cupel-gpu: 0, 00000000:1B:00.0, NVIDIA H100 80GB HBM3, 96.00.89.00.01\n"
    "cupel-gpu: 1, 0000:43:00.0; reboot, NVIDIA H100, 96.00\n"
    "cupel-end\n";

NodeWrite write_of(const ExpectedFirmware& expected, std::vector<Part> parts) {
  return {.expected = expected,
          .parts = std::move(parts),
          .image = "/opt/cupel/firmware/aa",
          .sha256 = "aa"};
}

TEST(NodeLook, NamesPartsWithVersionModelAndAddress) {
  const auto look = read_look(kAnswer);

  ASSERT_TRUE(look);
  EXPECT_EQ(look->boot_id, "0f3c2b1a-1111-2222-3333-444455556666");
  ASSERT_EQ(look->parts.size(), 3u) << "neither the bond nor the GPU with a forged address";
  Part gpu{.kind = PartKind::gpu, .name = "gpu0", .model = "NVIDIA H100 80GB HBM3"};
  gpu.firmware = "96.00.89.00.01";
  gpu.slot = "0000:1b:00.0";
  EXPECT_EQ(look->parts[0], gpu);
  EXPECT_EQ(look->parts[1].firmware, "GDC5602Q");
  EXPECT_EQ(look->parts[2].slot, "0000:18:00.0");
  EXPECT_EQ(look->parts[2].part_number, "MT_0000000838");
}

TEST(NodeLook, RefusesAnAnswerThatIsCut) {
  EXPECT_FALSE(read_look(kAnswer.substr(0, kAnswer.size() - 5)));
  EXPECT_FALSE(read_look("cupel-end\n"));
}

TEST(NodeWrite, WritesAnAdapterWithTwoPortsOnce) {
  ExpectedFirmware hca{.component = "hca", .version = "28", .way = UpdateWay::mstflint};
  hca.follow = {FirmwareReset::device_reset};
  Part first{.kind = PartKind::hca, .name = "mlx5_0"},
      second{.kind = PartKind::hca, .name = "mlx5_1"};
  first.slot = "0000:18:00.0";
  second.slot = "0000:18:00.1";

  const auto script = write_script(write_of(hca, {first, second}));

  EXPECT_THAT(script, HasSubstr("$flint -d '0000:18:00.0' -i \"$image\" -y burn || exit 1"));
  EXPECT_THAT(script, HasSubstr("$reset -d '0000:18:00.0' -y reset"));
  EXPECT_THAT(script, Not(HasSubstr("18:00.1")));
  EXPECT_LT(script.find("sha256sum"), script.find("burn"));
}

TEST(NodeWrite, CommitsADriveAtOnceOnlyWhereNothingFollows) {
  ExpectedFirmware drive{.component = "drive", .version = "G2", .way = UpdateWay::nvme};
  const Part nvme{.kind = PartKind::nvme, .name = "nvme3"};

  const auto at_once = write_script(write_of(drive, {nvme}));
  drive.follow = {FirmwareReset::host_restart};
  const auto later = write_script(write_of(drive, {nvme}));

  EXPECT_THAT(at_once, HasSubstr("nvme fw-commit '/dev/nvme3' --slot=0 --action=3"));
  EXPECT_THAT(later, HasSubstr("--slot=0 --action=1"));
  EXPECT_THAT(later, Not(HasSubstr("nvme reset")));
  EXPECT_LT(at_once.find("if in_use 'nvme3'; then"), at_once.find("nvme fw-download"));
  EXPECT_THAT(later, Not(HasSubstr("in_use"))) << "the host's restart takes all drives along";
}

/// What a node has in /proc and /sys, in a folder of the test's, and what the script's own look at
/// drives says there.
class Drives {
 public:
  Drives() {
    for (const auto* folder : {"proc/self", "sys/fs/btrfs/1/devices"}) make(folder);
    put("proc/mounts", "/dev/nvme10n1p1 /data ext4 rw 0 0\n/dev/root / ext4 rw 0 0\n");
    put("proc/swaps", "Filename Type\n/dev/nvme5n1p1 partition\n");
  }

  void put(const std::string& file, std::string_view text) {
    ASSERT_TRUE(write_file(root_.path() / file, text));
  }
  void make(const std::string& folder) {
    std::error_code failure;
    std::filesystem::create_directories(root_.path() / folder, failure);
    ASSERT_FALSE(failure) << folder;
  }
  /// `path`: what sysfs has below the drive; `disk`: its block device, of number 259:NUMBER.
  void add(const std::string& drive, const std::string& path, const std::string& disk, int number) {
    make("sys/class/nvme/" + drive + "/" + path);
    make("sys/block/" + disk + "/holders");
    make("sys/block/" + disk + "/" + disk + "p1/holders");
    put("sys/block/" + disk + "/dev", "259:" + std::to_string(number) + "\n");
    put("sys/block/" + disk + "/" + disk + "p1/dev", "259:" + std::to_string(number + 1) + "\n");
  }
  bool is_used(const std::string& drive) {
    ExpectedFirmware expected{.component = "drive", .version = "G2", .way = UpdateWay::nvme};
    const auto script = write_script(write_of(expected, {{.kind = PartKind::nvme, .name = drive}}));
    const auto from = script.find("is_held() {"), to = script.find("if in_use '");
    if (from == script.npos || to == script.npos) return false;
    auto look = script.substr(from, to - from) + "in_use " + drive + "\n";
    for (const auto* folder : {"/proc/", "/sys/"})
      for (auto at = look.find(folder); at != look.npos;
           at = look.find(folder, at + root_.path().string().size() + 1))
        look.insert(at, root_.path().string());
    put("look.sh", look);
    const auto command = "sh " + shell_quoted((root_.path() / "look.sh").string());
    auto* stream = ::popen(command.c_str(), "re");
    return stream != nullptr && ::pclose(stream) == 0;
  }

 private:
  test::TemporaryFolder root_{};
};

TEST(NodeWrite, KnowsADriveInUseByItsMountsNumbersAndHolders) {
  Drives node;
  node.add("nvme1", "nvme1n1", "nvme1n1", 10);
  node.add("nvme10", "nvme10n1", "nvme10n1", 20);
  node.add("nvme3", "nvme0c3n1", "nvme0n1", 30);
  node.add("nvme5", "nvme5n1", "nvme5n1", 50);
  node.add("nvme6", "nvme6n1", "nvme6n1", 60);
  node.add("nvme7", "nvme7n1", "nvme7n1", 70);
  node.put("proc/self/mountinfo", "30 1 259:31 / / rw - ext4 /dev/root rw\n");
  node.put("sys/fs/btrfs/1/devices/nvme6n1p1", "");
  node.make("sys/block/nvme7n1/nvme7n1p1/holders/dm-0");

  EXPECT_FALSE(node.is_used("nvme1")) << "nvme10 is another drive";
  EXPECT_TRUE(node.is_used("nvme10")) << "mounted by its name";
  EXPECT_TRUE(node.is_used("nvme3")) << "of two paths, mounted as /dev/root";
  EXPECT_TRUE(node.is_used("nvme5")) << "swap";
  EXPECT_TRUE(node.is_used("nvme6")) << "the second disk of a btrfs";
  EXPECT_TRUE(node.is_used("nvme7")) << "LVM";
}

TEST(NodeWrite, RunsTheSitesToolWithItsArgumentsFilledInAndQuoted) {
  ExpectedFirmware vbios{.component = "vbios", .version = "96", .way = UpdateWay::site_tool};
  vbios.tool =
      inventory::SiteTool{"/opt/vendor/tool", {"--device={pci}", "--of={part}", "{image}"}};
  Part gpu{.kind = PartKind::gpu, .name = "gpu0"};
  gpu.slot = "0000:1b:00.0";

  const auto script = write_script(write_of(vbios, {gpu}));

  EXPECT_THAT(script, HasSubstr("'/opt/vendor/tool' '--device=0000:1b:00.0' '--of=gpu0' "
                                "'/opt/cupel/firmware/aa' || exit 1\n"));
  EXPECT_LT(script.find("cupel_unsafe '/opt/vendor/tool'"), script.find("--device="));
}

}  // namespace
}  // namespace cupel::firmware
