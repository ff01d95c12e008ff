// `cupel run os` on machines that are not x86-64 with UEFI: one whose BIOS has the network first in
// its order and starts the disk by a boot loader of its first sector, and one with an Arm
// processor.
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
    require(start_child(line_of({"boot", "dhcp", "--run"})).wait_for("started: DHCP on br0"),
            "cupel boot dhcp does not start");
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

class LongOsRunOnAarch64 : public OsRunBench {
 protected:
  static constexpr const char* kNode = SOURCE_DIR "/build/node-aarch64/node/cupel-node";

  void SetUp() override {
    const auto missing = QemuRack::missing(QemuMachine::Arch::aarch64);
    CUPEL_NEEDS_REAL_PART(missing.empty(), missing);
    arch = "aarch64";
    take_artefacts(cupel::testing::boot_artefacts(kNode, arch));
  }
  /// Stages run there in the cupel-node that is made for it.
  std::filesystem::path programs() const override {
    const auto all = make_programs(rack->folder()), arm = all / "aarch64";
    std::filesystem::create_directory(arm);
    std::error_code there;
    std::filesystem::create_symlink(kNode, arm / "cupel-node", there);
    return all;
  }
  void make_machine() {
    std::vector<QemuMachine> machines;
    machines.push_back({.firmware = QemuMachine::Firmware::uefi,
                        .arch = QemuMachine::Arch::aarch64,
                        .mebibytes = 768,
                        .disks = {{.serial = disk_of(1), .bytes = 256u << 20}}});
    make_site(std::move(machines));
    start_dhcp();
  }
};

TEST_F(LongOsRunOnAarch64, InstallsAMachineFromTheUriOfItsBmc) {
  make_machine();
  write_inventory("ways: [http]");

  const auto ran = cupel({"run", "os", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  expect_installed(1, "cmdline");
  EXPECT_THAT(on_node(1, "uname -m"), HasSubstr("aarch64"));
}

TEST_F(LongOsRunOnAarch64, InstallsAMachineFromAVirtualDisc) {
  make_machine();
  write_inventory("ways: [media]");

  const auto ran = cupel({"run", "os", "--no-console", "--wait-for-repair", "0s"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err << rack->shown(1);
  expect_installed(1, "media");
  EXPECT_THAT(on_node(1, "uname -m"), HasSubstr("aarch64"));
  EXPECT_EQ(rack->on(1, [](QemuSystem& system) { return system.virtual_disc(); }), "");
}

}  // namespace
}  // namespace cupel::rehearsal
