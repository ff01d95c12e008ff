// Real UEFI machines that boot what their BMC tells them: over the network, and from a disc.
// What they boot is iPXE, a small EFI program that says its name on the console.
#include "tests/rehearsal/served_bmc.h"
#include "tests/support/qemu/efi_boot.h"
#include "tests/support/qemu/qemu_rack.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::Child;
using cupel::testing::NetworkBed;
using cupel::testing::QemuRack;
using ::testing::HasSubstr;

constexpr const char* kIpxe = "/usr/lib/ipxe/snponly.efi";
constexpr const char* kServed = "http://10.77.0.1:8080/";

class QemuUefiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kIpxe), "iPXE (package ipxe) is not there");
    rack = std::make_unique<QemuRack>(
        std::vector<QemuMachine>{{.firmware = QemuMachine::Firmware::uefi,
                                  .mebibytes = 256,
                                  .disks = {{.serial = "NVME0001", .bytes = 64u << 20}}}});
  }
  /// Files over HTTP and addresses by DHCP, which says nothing of what to boot.
  void serve(const std::filesystem::path& file) {
    std::filesystem::create_directory(rack->folder() / "www");
    std::filesystem::copy_file(file, rack->folder() / "www" / file.filename());
    web.emplace(std::vector<std::string>{"/usr/bin/python3", "-u", "-m", "http.server", "8080",
                                         "--bind", NetworkBed::kAddress, "--directory",
                                         (rack->folder() / "www").string()});
    ASSERT_TRUE(web->wait_for("Serving HTTP"));
    std::vector<std::string> line{"dnsmasq",
                                  "--keep-in-foreground",
                                  "--conf-file=/dev/null",
                                  "--port=0",
                                  "--interface=br0",
                                  "--bind-interfaces",
                                  "--user=root",
                                  "--no-ping",
                                  "--log-facility=-",
                                  "--pid-file=",
                                  "--dhcp-authoritative",
                                  "--dhcp-leasefile=" + (rack->folder() / "leases").string(),
                                  "--dhcp-range=10.77.0.0,static,255.255.255.0,5m"};
    for (const auto& host : rack->dhcp_hosts()) line.push_back(host);
    dhcp.emplace(line);
    ASSERT_TRUE(dhcp->wait_for("DHCP, static leases only"));
  }
  /// A disc that UEFI boots iPXE from: a small FAT volume, as xorriso puts it into an ISO.
  std::filesystem::path make_disc() {
    const auto disc = rack->folder() / "ipxe.iso";
    const auto made = cupel::testing::run(
        {"sh", "-ec",
         "mkdir \"$1\"; truncate -s 2880K \"$1/efi.img\"; mformat -i \"$1/efi.img\" -f 2880 ::; "
         "mmd -i \"$1/efi.img\" ::/EFI ::/EFI/BOOT; "
         "mcopy -i \"$1/efi.img\" \"$2\" ::/EFI/BOOT/BOOTX64.EFI; "
         "xorriso -as mkisofs -quiet -o \"$3\" -e efi.img -no-emul-boot \"$1\"",
         "disc", (rack->folder() / "disc").string(), kIpxe, disc.string()});
    EXPECT_EQ(made.status, 0) << made.err;
    return disc;
  }
  void override_boot(const std::string& target, const std::string& uri = {}) {
    rack->on(1, [&](QemuSystem& system) {
      system.set_boot_override({.enabled = "Once", .target = target, .uri = uri});
      return true;
    });
  }
  void TearDown() override {
    for (auto* child : {&web, &dhcp})
      if (*child) (*child)->signal(SIGTERM);
  }

  std::unique_ptr<QemuRack> rack;
  std::optional<Child> web, dhcp;
};

TEST_F(QemuUefiTest, BootsOnceOverHttpFromTheUriOfItsBmc) {
  serve(kIpxe);
  override_boot("UefiHttp", std::string{kServed} + "snponly.efi");

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, "iPXE initialising devices")) << rack->shown(1);
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
  serve(make_disc());
  rack->press(1, Reset::on);
  ASSERT_TRUE(rack->shows(1, "BdsDxe: ")) << "it looks through what it has, and finds nothing";

  rack->on(1, [](QemuSystem& system) {
    system.set_virtual_disc(std::string{kServed} + "ipxe.iso");
    return true;
  });
  ASSERT_TRUE(web->wait_for("GET /ipxe.iso"));
  override_boot("Cd");
  rack->press(1, Reset::force_restart);

  EXPECT_TRUE(rack->shows(1, "iPXE initialising devices")) << rack->shown(1);
}

}  // namespace
}  // namespace cupel::rehearsal
