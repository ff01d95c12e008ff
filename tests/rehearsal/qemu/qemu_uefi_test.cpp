// Real UEFI machines that boot what their BMC tells them: over the network, and from a disc.
// What they boot is iPXE, a small EFI program that says its name on the console.
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/rehearsal/served_bmc.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::QemuRack;

class QemuUefiTest : public NetbootBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kIpxe), "iPXE (package ipxe) is not there");
    make_rack({.firmware = QemuMachine::Firmware::uefi,
               .mebibytes = 256,
               .disks = {{.serial = "NVME0001", .bytes = 64u << 20}}});
    start_web();
    start_dhcp();  // which says nothing of what to boot
  }
  /// A disc that UEFI boots iPXE from: a small FAT volume, as xorriso puts it into an ISO.
  void serve_disc() {
    const auto made = cupel::testing::run(
        {"sh", "-ec",
         "mkdir \"$1\"; truncate -s 2880K \"$1/efi.img\"; mformat -i \"$1/efi.img\" -f 2880 ::; "
         "mmd -i \"$1/efi.img\" ::/EFI ::/EFI/BOOT; "
         "mcopy -i \"$1/efi.img\" \"$2\" ::/EFI/BOOT/BOOTX64.EFI; "
         "xorriso -as mkisofs -quiet -o \"$3\" -e efi.img -no-emul-boot \"$1\"",
         "disc", (rack->folder() / "disc").string(), kIpxe, served("ipxe.iso").string()});
    EXPECT_EQ(made.status, 0) << made.err;
  }
};

TEST_F(QemuUefiTest, BootsOnceOverHttpFromTheUriOfItsBmc) {
  serve(kIpxe);
  override_boot("UefiHttp", url("snponly.efi"));

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, kIpxeRuns)) << rack->shown(1);
  EXPECT_EQ(rack->on(1, [](QemuSystem& system) { return system.boot_override(); }), BootOverride{});
  rack->press(1, Reset::force_off);
  ASSERT_TRUE(rack->comes_to(1, Power::off));
  const auto variables = read_variables(rack->machine(1));
  ASSERT_TRUE(variables) << variables.error().what;
  EXPECT_FALSE(variables->global("BootNext")) << "the firmware has taken it";
  EXPECT_TRUE(option_of(*variables, EfiNode::uri)) << "and made its own options";
}

TEST_F(QemuUefiTest, BootsADiscThatItsBmcPutsInWhileItRuns) {
  CUPEL_NEEDS_REAL_PART(installed("xorriso") && installed("mcopy"),
                        "xorriso or mtools is not there");
  serve_disc();
  rack->press(1, Reset::on);
  ASSERT_TRUE(rack->shows(1, "BdsDxe: ")) << "it looks through what it has, and finds nothing";

  rack->on(1, [](QemuSystem& system) {
    system.set_virtual_disc(url("ipxe.iso"));
    return true;
  });
  override_boot("Cd");
  rack->press(1, Reset::force_restart);

  EXPECT_TRUE(rack->shows(1, kIpxeRuns)) << rack->shown(1);
}

}  // namespace
}  // namespace cupel::rehearsal
