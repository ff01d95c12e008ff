// The RAM system as it is built for tests, on machines that really boot it: by UEFI over HTTP from
// the URI that the BMC was given, two side by side, and from a virtual disc. OsRun.* boots the same
// ways on its way to an installed system; where it fails, this says whether the boot did.
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/support/boot_artefacts.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::QemuRack;
using ::testing::HasSubstr;

class LongOsOnBareMetal : public NetbootBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    const auto made = cupel::testing::boot_artefacts(NODE_BINARY);
    CUPEL_NEEDS_REAL_PART(made, made.error().what);
    artefacts = *made;
  }
  static QemuMachine machine() {
    return {.firmware = QemuMachine::Firmware::uefi,
            .mebibytes = 512,
            .disks = {{.serial = "NVME0001", .bytes = 256u << 20}}};
  }
  /// With everything that machines fetch.
  void start(std::vector<QemuMachine> machines) {
    make_rack(std::move(machines));
    serve(artefacts.ram_efi);
    serve(artefacts.ram_iso);
    start_web();
    start_dhcp();
  }

  cupel::testing::BootArtefacts artefacts;
};

TEST_F(LongOsOnBareMetal, TwoMachinesBootTheRamSystemFromTheUriOfTheirBmcs) {
  start({machine(), machine()});

  for (const int number : {1, 2}) {
    override_boot("UefiHttp", url("ram.efi"), number);
    rack->press(number, Reset::on);
  }

  for (const int number : {1, 2}) {
    EXPECT_TRUE(rack->shows(number, QemuRack::address(number) + "/24")) << rack->shown(number);
    EXPECT_THAT(rack->shown(number), HasSubstr("drivers are loaded"));
  }
}

TEST_F(LongOsOnBareMetal, AMachineBootsTheRamSystemFromAVirtualDisc) {
  start({machine()});
  rack->on(1, [](QemuSystem& system) {
    system.set_virtual_disc(url("ram.iso"));
    return true;
  });
  override_boot("Cd");

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, QemuRack::address(1) + "/24")) << rack->shown(1);
}

}  // namespace
}  // namespace cupel::rehearsal
