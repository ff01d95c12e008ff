// The other ways by which real firmware boots over a network, each with real DHCP: PXE of UEFI and
// BIOS, a DHCP server that hands out no boot file beside one that hands out nothing else, and
// Secure Boot.
#include "base/file.h"
#include "tests/rehearsal/qemu/netboot_bench.h"
#include "tests/rehearsal/served_bmc.h"

namespace cupel::rehearsal {
namespace {
using cupel::testing::QemuRack;
using cupel::testing::run;
using ::testing::HasSubstr;
using ::testing::Not;

class LongNetbootTest : public NetbootBench {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(QemuRack::missing().empty(), QemuRack::missing());
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kIpxe), "iPXE (package ipxe) is not there");
  }
  void make_uefi() {
    make_rack({.firmware = QemuMachine::Firmware::uefi, .mebibytes = 256, .pxe = true});
  }
  /// UEFI with Secure Boot on, which trusts the test key of Debian's package ovmf.
  void make_secure() {
    make_rack({.firmware = QemuMachine::Firmware::uefi_secure, .mebibytes = 256});
    start_web();
    start_dhcp();
  }
  std::vector<std::string> tftp(const std::string& file) const {
    return {"--enable-tftp", "--tftp-root=" + served("").string(), "--dhcp-boot=" + file};
  }
};

TEST_F(LongNetbootTest, UefiBootsByPxeOverTftp) {
  make_uefi();
  serve(kIpxe);
  start_dhcp(tftp("snponly.efi"));
  override_boot("Pxe");

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, kIpxeRuns)) << rack->shown(1);
}

TEST_F(LongNetbootTest, BiosBootsAScriptByTheRomOfItsNetworkCard) {
  make_rack({.mebibytes = 256, .nic = QemuNic{.rom = true}});
  ASSERT_TRUE(write_file(served("boot.ipxe"), "#!ipxe\necho booted by ${net0/mac}\nsleep 60\n"));
  start_web();
  start_dhcp({"--dhcp-boot=" + url("boot.ipxe")});
  override_boot("Pxe");

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, "booted by 52:54:00:aa:00:01")) << rack->shown(1);
}

TEST_F(LongNetbootTest, UefiTakesTheBootFileOfAProxyBesideTheSitesOwnDhcp) {
  make_uefi();
  serve(kIpxe);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"link", "add", "site", "type", "veth", "peer", "name", "site0"},
           {"link", "set", "site0", "master", "br0", "up"},
           {"addr", "add", "10.77.0.2/24", "dev", "site"},
           {"link", "set", "site", "up"}}) {
    std::vector<std::string> line{"ip"};
    line.insert(line.end(), words.begin(), words.end());
    ASSERT_EQ(run(line).status, 0);
  }
  start_dhcp({}, "site");
  start_dhcp(
      {"--enable-tftp", "--tftp-root=" + served("").string(),
       "--pxe-service=X86-64_EFI,Cupel,snponly.efi", "--pxe-service=BC_EFI,Cupel,snponly.efi"},
      "br0", "10.77.0.0,proxy");
  override_boot("Pxe");

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, kIpxeRuns)) << rack->shown(1);
}

TEST_F(LongNetbootTest, SecureBootRefusesAProgramThatNobodySigned) {
  make_secure();
  serve(kIpxe);
  override_boot("UefiHttp", url("snponly.efi"));

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, "Access Denied")) << rack->shown(1);
  EXPECT_THAT(rack->shown(1), Not(HasSubstr(kIpxeRuns)));
}

TEST_F(LongNetbootTest, SecureBootTakesAProgramSignedWithAKeyThatItTrusts) {
  CUPEL_NEEDS_REAL_PART(installed("sbsign"), "sbsign is not there");
  make_secure();
  const auto key = (rack->folder() / "key").string();
  ASSERT_EQ(run({"openssl", "rsa", "-in", "/usr/share/ovmf/PkKek-1-snakeoil.key", "-passin",
                 "pass:snakeoil", "-out", key})
                .status,
            0);
  ASSERT_EQ(run({"sbsign", "--key", key, "--cert", "/usr/share/ovmf/PkKek-1-snakeoil.pem",
                 "--output", served("snponly.efi").string(), kIpxe})
                .status,
            0);
  override_boot("UefiHttp", url("snponly.efi"));

  rack->press(1, Reset::on);

  EXPECT_TRUE(rack->shows(1, kIpxeRuns)) << rack->shown(1);
}

}  // namespace
}  // namespace cupel::rehearsal
