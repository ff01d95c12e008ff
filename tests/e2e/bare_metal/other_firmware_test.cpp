// `cupel run os` on a machine without UEFI: its BIOS has the network first in its order and starts
// the disk by a boot loader of its first sector.
#include "tests/e2e/bare_metal/os_run_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

class LongOsRunOnBios : public OsRunBench {
 protected:
  void store_images() override {
    OsRunBench::store_images();
    digest = keep({.name = "bios",
                   .kind = images::ImageKind::disk,
                   .content_size = artefacts.bios_disk_size,
                   .compression = "zstd",
                   .bios = true},
                  {artefacts.bios_disk});
  }
  void make_machine() {
    std::vector<QemuMachine> machines;
    machines.push_back({.mebibytes = 512,
                        .disks = {{.serial = disk_of(1), .bytes = 256u << 20}},
                        .nic = QemuNic{.rom = true},
                        .network_first = true});
    make_site(std::move(machines));
    nodes_have_addresses = true;
    write_inventory("ways: [pxe], dhcp: {mode: full, interface: br0}");
    ASSERT_TRUE(start_child(line_of({"boot", "dhcp", "--run"})).wait_for("started: DHCP on br0"));
  }
};

TEST_F(LongOsRunOnBios, InstallsAMachineWithoutEfiVariablesAndSetsItsBmcToBootTheDiskOnce) {
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kIpxe), "iPXE (package ipxe) is not there");
  make_machine();

  const auto ran = cupel({"run", "os", "--set", "image=bios", "--set", "sha256=" + digest,
                          "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  expect_installed(1, "cmdline");
  EXPECT_THAT(rack->shown(1), HasSubstr("CUPEL no EFI variables: no boot entry is made"));
  EXPECT_EQ(rack->on(1, [](QemuSystem& system) { return system.boot_override(); }), BootOverride{});
}

}  // namespace
}  // namespace cupel::rehearsal
